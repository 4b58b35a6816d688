// Networks whose layers are all frozen, and passes that move statistics alone, on simulated GPUs:
// the kernels of the update have nothing to do, which CUDA would not launch, and there is nothing
// to copy.
#include <castnet/castnet.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "device.hpp"
#include "orders.hpp"

#include <cmath>
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

using normalized =
    cn::sequential<cn::input<4>, cn::dense<5>, cn::batch_norm, cn::relu, cn::dense<3>>;

// Until the graphs of both step buffers have run, with a short last batch.
template <class Policy, std::size_t Batch>
std::vector<double> after_passes() {
    std::vector<float> x(4 * 41);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 101));
    }
    data_set const data{std::move(x), std::vector<int>(41, 1)};
    cn::model<normalized, Policy, cn::batch<Batch>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::clip_norm(cn::adam{}, 1));
    training.step(data, {0, 1, 2, 3, 4, 5, 6, 7});
    auto const weight = model.get("0.weight");
    training.update_statistics(data);
    training.update_statistics(data);
    CHECK(model.get("0.weight") == weight);
    training.step(data, {0, 1, 2, 3, 4, 5, 6, 7});
    return check::everything<double>(model);
}

} // namespace

TEST_CASE("passes that move statistics move those of all GPUs as those of one, and no weights") {
    auto const expected = after_passes<simt::policy<false>, 16>();
    CHECK(check::largest_difference(after_passes<on_host::policy<true>, 16>(), expected) <= 1e-9);
    on_host::in_several_orders([&] {
        using several = cn::policy::mirrored<on_host::policy<false>, 2>;
        CHECK(check::largest_difference(after_passes<on_host::policy<false>, 16>(), expected) <=
              1e-9);
        CHECK(check::largest_difference(after_passes<several, 8>(), expected) <= 1e-9);
    });
}

TEST_CASE("steps of a network with nothing to train change nothing") {
    check_optimizers<on_host::policy<false>>();
    check_optimizers<on_host::policy<true>>(); // as one kernel
}
