// predict_one takes all inputs and a place for each output.
// expect: castnet: predict_one takes the numbers of each input of the network, and then where to
// expect: arguments_of_predict_one<3, 2>
#include <castnet/castnet.hpp>

namespace cn = castnet;

constexpr auto two_heads(cn::symbol<cn::shape<4>> x) {
    return cn::outputs(x | cn::dense<2>, x | cn::dense<2>);
}

using net = cn::network<two_heads, cn::input<4>>;

void predict(cn::model<net, cn::policy::cpu, cn::batch<1>> const& model) {
    float const sample[4] = {};
    float scores[2];
    model.predict_one<0, 1>(sample, scores);
}
