// A name for the first of two outputs only.
// expect: castnet: outputs<names\.\.\.> needs a name for each output
// expect: one_name_each<.*1(UL)?.*>|one_name_each<sizeof
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs<"kind">(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, cn::losses<cn::cross_entropy, cn::mse>, cn::adam{});
