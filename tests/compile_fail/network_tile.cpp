// tile has a number for each axis, and repeat_interleave an axis that the tensor has.
// expect: castnet: tile needs a number, at least 1, for each axis; see tiles_every_axis
// expect: castnet: repeat_interleave: the tensor has no such axis; see tensor_has_axis
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct repeated {
    constexpr auto operator()(auto x) const {
        auto const twice = cn::tile<2>(x);
        return cn::repeat_interleave<2, 2>(twice);
    }
};
using network = cn::network<repeated{}, cn::input<4, 3>>;
static_assert(network::parameter_count == 0);

int main() {}
