// What combines with several heads of a sequence has a value for each of them or one for all.
// expect: castnet: element by element, an operand is broadcast along all axes but the channels
// expect: axes_agree<.*shape<5, ?4>, .*ordered_shape<.*2, ?5, ?4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct sum {
    constexpr auto operator()(auto sequence) const {
        return (cn::concat(sequence, sequence) |
                cn::reshape_to<cn::row_major_shape<2, 5, 4>>)+sequence;
    }
};
using net = cn::network<sum{}, cn::input<5, 4>>;

auto count = net::parameter_count;
