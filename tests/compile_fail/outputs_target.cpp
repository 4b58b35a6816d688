// The second target has another shape than the second output.
// expect: castnet: a target of the data set is of another kind than the loss compares the output with
// expect: target_number_fits<1(UL)?, .*shape<4>, .*shape<5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

using boxes = cn::data::dataset<cn::data::targets<cn::data::label<3>, cn::shape<5>>, cn::shape<2>>;
auto training = cn::compile(model, cn::losses<cn::cross_entropy, cn::mse>, cn::adam{});
auto scores =
    training.evaluate(boxes{std::vector<float>{}, std::vector<int>{}, std::vector<float>{}});
