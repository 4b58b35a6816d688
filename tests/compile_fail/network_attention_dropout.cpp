// Dropout within other layers keeps something, too.
// expect: castnet: dropout of attention, transformers and recurrent layers: the rate must be in \[0, 1\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 4>, cn::multi_head_attention<2>.dropout(1.5), cn::flatten,
                           cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
