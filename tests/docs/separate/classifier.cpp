// The one source file that compiles the network.
// [definition]
#include "classifier.hpp"

#include <castnet/castnet.hpp>

namespace cn = castnet;

using network = cn::sequential<cn::input<4>, cn::dense<16>, cn::relu, cn::dense<3>>;

struct classifier::parts {
    cn::model<network, cn::policy::cpu, cn::batch<32>> model;
    decltype(cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy)) training;

    explicit parts(std::uint64_t seed) : model{cn::seed{seed}}, training{model, cn::adam{}} {}
};

classifier::classifier(std::uint64_t seed) : parts_{std::make_unique<parts>(seed)} {}
classifier::~classifier() = default;

void classifier::train(points const& data, int epochs) {
    parts_->training.fit(data, {.epochs = epochs, .verbose = cn::verbosity::silent});
}
double classifier::accuracy(points const& data) {
    return parts_->training.evaluate(data)["accuracy"];
}
// [/definition]
