// Networks whose layers are all frozen, on a simulated GPU: the kernels of the update have nothing
// to do, which CUDA would not launch, and there is nothing to copy.
#include <castnet/castnet.hpp>

#include "device.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

using network = cn::sequential<cn::input<4>, cn::frozen<cn::dense<3>>>;
using data_set = cn::data::dataset<cn::data::label<3>, cn::shape<4>>;

template <class Policy>
void check_steps(auto const& optimizer) {
    cn::model<network, Policy, cn::batch<4>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer);
    data_set const data{std::vector<float>(20, 1.0F), std::vector<int>(5, 1)};
    double const before = training.evaluate(data).loss();
    training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent}); // the third is a graph
    CHECK(training.evaluate(data).loss() == before);
}

template <class Policy>
void check_optimizers() {
    check_steps<Policy>(cn::clip_norm(cn::adam{}, 1));
    check_steps<Policy>(cn::clip_each_norm(cn::lamb{}, 1));
    check_steps<Policy>(cn::muon{});
}

} // namespace

TEST_CASE("steps of a network with nothing to train change nothing") {
    check_optimizers<on_host::policy<false>>();
    check_optimizers<on_host::policy<true>>(); // as one kernel
}
