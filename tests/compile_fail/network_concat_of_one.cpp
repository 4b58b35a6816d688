// concat takes no vector of tensors.
// expect: castnet: concat takes tensors one by one, cn::concat\(a, b\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twice {
    constexpr auto operator()(auto x) const { return cn::concat(std::array{x, x}) | cn::dense<2>; }
};
using net = cn::network<twice{}, cn::input<3>>;

auto count = net::parameter_count;
