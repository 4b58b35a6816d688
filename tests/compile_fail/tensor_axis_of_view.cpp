// Views take axes and extents as template arguments.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before
// expect: is_written<.*"slice<axis, begin, end>\(x\)"
// expect: is_written<.*"split<axis, parts>\(x\)"
// expect: is_written<.*"select<axis>\(x, i\)"
// expect: is_written<.*"transpose<axes\.\.\.>\(x\)"
// expect: is_written<.*"broadcast_to<extents\.\.\.>\(x\)"
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const column = cn::slice<1>(a, 0, 1);
    auto const parts = cn::split(a, 3, 1);
    auto const row = cn::select(a, 0, 1);
    auto const turned = cn::transpose(a, 1, 0);
    auto const more = cn::broadcast_to(a, 4, 2, 3);
}
