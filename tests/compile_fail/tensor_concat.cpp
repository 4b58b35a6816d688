// concat is a function of symbols.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before the tensors
// expect: is_written<.*concatenate<axis>
#include <castnet/castnet.hpp>

namespace cn = castnet;

cn::tensor<float, cn::shape<2, 3>> a;
auto both = cn::concat(a, a);
