// As many slices as a table of relative positions has entries.
// expect: castnet: take: the positions have more than 256 runs of neighbours.*matmul\(one_hot<rows>\(positions\), x\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct chosen {
    constexpr auto operator()(auto x) const {
        std::array<int, 1000> back{};
        for (int i = 0; i < 1000; ++i) {
            back[std::size_t(i)] = 999 - i;
        }
        return cn::take<0>(x, back);
    }
};
using net = cn::network<chosen{}, cn::input<1000, 2>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
