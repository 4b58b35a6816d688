// Blocks that are repeated read what is trained from their carry alone.
// expect: castnet: what a block of repeat<N, block> is called with besides x, such as masks, gets no gradient
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct moved {
    constexpr auto operator()(auto x, auto by) const { return x + by | cn::dense<4>; }
};
struct blocks {
    constexpr auto operator()(auto x) const {
        auto const by = x | cn::dense<4>;
        return cn::repeat<3, moved{}>(x, by);
    }
};
using net = cn::network<blocks{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{});
