// A network with two inputs is given both.
// expect: castnet: predict takes the numbers of every input of the network, one argument for each
// expect: inputs_are_given<2[^,]*, 1
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct sum {
    constexpr auto operator()(auto left, auto right) const { return left + right; }
};
using net = cn::network<sum{}, cn::input<3>, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> const model;
auto prediction = model.predict(std::vector<float>{1, 2, 3});
