// Elements change places along an axis that is a template argument.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before
// expect: is_written<.*"flip<axis>\(x\)"
// expect: is_written<.*"roll<axis>\(x, shift\)"
// expect: is_written<.*"take<axis>\(x, ids\)"
// expect: is_written<.*"tile<times\.\.\.>\(x\)"
// expect: is_written<.*"repeat_interleave<axis, times>\(x\)"
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    cn::tensor<int, cn::shape<2>> ids;
    auto const flipped = cn::flip(a, 1);
    auto const rolled = cn::roll(a, 1, 1);
    auto const taken = cn::take(a, ids);
    auto const tiled = cn::tile(a, 2, 3);
    auto const repeated = cn::repeat_interleave<0>(a, 2);
}
