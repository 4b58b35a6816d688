// Steps are of several batches once.
// expect: castnet: accumulate<n>: this optimizer accumulates several batches already
#include <castnet/castnet.hpp>

namespace cn = castnet;

auto const optimizer = cn::accumulate<2>(cn::accumulate<4>(cn::adam{}));
