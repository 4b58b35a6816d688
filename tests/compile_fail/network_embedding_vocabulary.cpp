// There is a row for every id.
// expect: castnet: embedding: the ids have more values than the embedding has rows
// expect: ids_within<.*200.*, 100
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input_ids<200, 12>, cn::embedding<100, 8>, cn::flatten, cn::dense<2>>;

auto count = net::parameter_count;
