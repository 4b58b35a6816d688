// A cell returns tensors, not a pair.
// expect: castnet: scan: the cell returns a tensor, cn::carry\(h, c\) where several pass on
// expect: cell_returns<.*pair<
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct sums {
    constexpr auto operator()(auto x) const {
        auto const cell = [](auto x_t, auto sum) { return std::pair{sum + x_t, sum}; };
        return cn::scan(x, cn::shape<3>{}, cell).outputs;
    }
};
using net = cn::network<sums{}, cn::input<10, 3>>;

auto count = net::parameter_count;
