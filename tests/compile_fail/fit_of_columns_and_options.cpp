// Columns make a data set first, also where options in braces follow.
// expect: castnet: fit takes a data set and its options: cn::data::dataset<
// expect: fit_takes<.*vector<float.*vector<int
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

using net = cn::sequential<cn::input<2>, cn::dense<3>>;

void train(std::vector<float> const& x, std::vector<int> const& y) {
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.fit(x, y, {.epochs = 5});
}
