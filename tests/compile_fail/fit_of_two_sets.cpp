// Training data are one of the two sets.
// expect: castnet: this is not a data set; if cn::data::mnist or fashion_mnist has returned it, take its .train or .test
// expect: is_dataset<.*mnist_sets
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 28, 28>, cn::flatten, cn::dense<10>>;

void train() {
    auto data = cn::data::mnist("folder");
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.fit(data, {.epochs = 3});
    training.evaluate(data);
}
