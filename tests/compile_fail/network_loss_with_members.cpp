// A step knows the type of a loss, and of its values the scalars only.
// expect: castnet: a loss or metric has members other than cn::scalar
// expect: members_are_scalars<.*scaled_mse
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct scaled_mse {
    double scale = 1;
    static constexpr char const* name = "scaled_mse";
    static constexpr bool labels = false;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::mse(prediction, target) * scale;
    }
};
using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, scaled_mse{.scale = 100}, cn::adam{});
