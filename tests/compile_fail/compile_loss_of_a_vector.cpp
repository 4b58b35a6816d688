// A loss is a number.
// expect: castnet: a loss must give one number for each sample, symbol<shape<>>: return cn::mean
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct own_loss {
    static constexpr bool labels = false;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::abs(prediction - target);
    }
};
using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, own_loss{}, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
