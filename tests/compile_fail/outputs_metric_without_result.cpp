// A metric of another output that gives several numbers has to say what becomes of their sums.
// expect: castnet: a metric must give one number for each sample, symbol<shape<>>, or several
// expect: metric_gives_sums<.*error
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct error {
    static constexpr char const* name = "error";
    static constexpr bool labels = false;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::abs(prediction - target);
    }
};
struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<2>, x | cn::dense<2>);
    }
};
using net = cn::network<two_heads{}, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training =
    cn::compile(model, cn::losses<cn::mse, cn::mse>, cn::adam{}, cn::on_output<1>(error{}));
