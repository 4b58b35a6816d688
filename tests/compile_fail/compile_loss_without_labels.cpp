// A loss says what kind of target it has.
// expect: castnet: a loss needs static constexpr bool labels
// expect: arguments_of_compile<.*own_loss, .*adam>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct own_loss {
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::mean(cn::abs(prediction - target));
    }
};
using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, own_loss{}, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
