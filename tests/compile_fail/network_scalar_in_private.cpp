// The scalars of a loss are public, so that a trace can make one with its own.
// expect: castnet: a loss or metric has members other than cn::scalar
// expect: members_are_scalars<.*scaled_mse
#include <castnet/castnet.hpp>

namespace cn = castnet;

class scaled_mse {
public:
    static constexpr char const* name = "scaled_mse";
    static constexpr bool labels = false;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::mse(prediction, target) * scale;
    }

private:
    cn::scalar scale = 1;
};
using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, scaled_mse{}, cn::adam{});
