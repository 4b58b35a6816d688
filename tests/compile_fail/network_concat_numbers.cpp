// A vector of numbers is not concatenated.
// expect: castnet: concat joins no numbers, of which cn::stack\(a, b\) makes a vector
// expect: have_channels<castnet::shape<> ?, castnet::shape<>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct sum_and_largest {
    constexpr auto operator()(auto x) const { return cn::concat(cn::sum(x), cn::max(x)); }
};
using net = cn::sequential<cn::input<4>, sum_and_largest{}, cn::dense<2>>;

auto count = net::parameter_count;
