// The row of what fills sequences up is one of the table.
// expect: castnet: embedding: padding_idx\(\) is a row of the table
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input_ids<10, 5>, cn::embedding<10, 4>.padding_idx(10), cn::flatten,
                           cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
