// A network with several inputs has predict().
// expect: castnet: predict_one takes two arguments, the numbers of the only input and
// expect: input_and_output_are_given<3
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct joined {
    constexpr auto operator()(auto a, auto b) const { return cn::concat(a, b) | cn::dense<2>; }
};
using net = cn::network<joined{}, cn::input<4>, cn::input<3>>;

void predict(cn::model<net, cn::policy::cpu, cn::batch<1>> const& model) {
    float const a[4]{}, b[3]{};
    float scores[2];
    model.predict_one(a, b, scores);
}
