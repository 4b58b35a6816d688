// Columns make a data set first.
// expect: castnet: step takes a data set, and the numbers of its samples, a std::vector of std::size_t, unless all of them
// expect: step_takes<.*vector<float.*vector<int
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<8>>& model, std::vector<float> const& x,
           std::vector<int> const& y) {
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.step(x, y);
}
