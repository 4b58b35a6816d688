// The result of a metric is made of its sums.
// expect: castnet: a metric's result\(\) does not make one number of its sums
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct share {
    static constexpr char const* name = "share";
    static constexpr bool labels = false;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::stack(cn::sum(prediction), cn::sum(target));
    }
    double result(double first, double second) const { return first / second; }
};
using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{}, share{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
