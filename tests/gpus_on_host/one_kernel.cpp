// Steps of tiny networks on a simulated GPU: each is one launch of a kernel, whose arguments hold
// the step's inputs.
#include <castnet/castnet.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../tiny_networks.hpp"
#include "device.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace cn = castnet;

namespace {

using network = cn::sequential<cn::input<3>, cn::dense<4>, cn::batch_norm, cn::tanh,
                               cn::dropout<0.25F>, cn::dense<1>>;
using data_set = cn::data::dataset<cn::shape<1>, cn::shape<3>>;
using one_kernel = on_host::policy<true>;
using kernels = on_host::policy<false>;
static_assert(check::tiny<network, one_kernel, 8>::trains_in_one_kernel);
static_assert(check::tiny<network, one_kernel, 8>::evaluates_in_one_kernel);

// All that a training does, by turns.
template <class Policy, std::size_t Batch>
std::vector<double> after_turns(int replicas, bool on_device) {
    std::vector<int> gpus(std::size_t(replicas), 0);
    std::iota(gpus.begin(), gpus.end(), 0);
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}, cn::devices{gpus}};
    auto training = cn::compile(model, cn::mse, cn::clip_norm(cn::momentum{}, 0.5), cn::mae);
    auto const host = check::tiny_data<data_set>(17);
    std::vector<std::size_t> order(17);
    std::iota(order.begin(), order.end(), std::size_t(0));
    training.step(host, std::span{order}.first(8));
    training.evaluate(host); // the last sample is that of the first GPU
    std::vector<double> all;
    auto const go_on = [&](auto const& data) {
        for (std::size_t first : {std::size_t(0), std::size_t(8), std::size_t(16)}) {
            auto const step = std::span{order}.subspan(first, std::min<std::size_t>(8, 17 - first));
            all.push_back(training.step(data, step).loss());
            training.observe(data, step.first(1), [](int) {});
            all.push_back(training.step(data, step)["mae"]);
            training.step(data, step);
            all.push_back(training.evaluate(data).loss());
            auto const y = model.predict(host);
            all.insert(all.end(), y.begin(), y.end());
        }
    };
    for (int k = 0; k < 2; ++k) {
        go_on(host);
        if (on_device) {
            go_on(cn::on_device(host));
        }
    }
    auto const parameters = check::everything<double>(model);
    all.insert(all.end(), parameters.begin(), parameters.end());
    return all;
}

// Calls of CUDA in so many epochs of steps.
std::uint64_t calls_of(int epochs) {
    cn::model<network, one_kernel, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::mse, cn::adam{});
    auto const data = cn::on_device(check::tiny_data<data_set>(320));
    training.fit(data, {.verbose = cn::verbosity::silent});
    machine::here().calls.clear();
    training.fit(data, {.epochs = epochs, .verbose = cn::verbosity::silent});
    return machine::here().calls.calls();
}

} // namespace

TEST_CASE("a step of one kernel gets its inputs as arguments") {
    for (bool const on_device : {false, true}) {
        CAPTURE(on_device);
        auto const expected = after_turns<kernels, 8>(1, on_device);
        for (std::uint64_t seed : {1U, 77U, 4711U}) {
            machine::here().random = seed;
            CHECK(check::largest_difference(after_turns<one_kernel, 8>(1, on_device), expected) <
                  1e-12);
        }
    }
}

TEST_CASE("it is a launch, and no graph, copy or event") {
    auto const launches = machine::here().launches;
    constexpr int steps = 40; // of an epoch, which also reads its sums
    auto const of_epoch = calls_of(3) - calls_of(2);
    CHECK(of_epoch >= 2 * steps); // the GPU is made current, and the kernel launched
    CHECK(of_epoch < 2 * steps + 20);
    CHECK(machine::here().launches == launches);
}

TEST_CASE("GPUs that evaluate by one kernel, or nothing, meet in the steps of all") {
    using several = cn::policy::mirrored<one_kernel>;
    double const before = std::exchange(cn::comm::timeout(), 20);
    auto const expected = after_turns<cn::policy::mirrored<kernels>, 4>(2, false);
    for (std::uint64_t seed : {1U, 77U}) {
        machine::here().random = seed;
        CHECK(check::largest_difference(after_turns<several, 4>(2, false), expected) < 1e-12);
    }
    cn::comm::timeout() = before;
}
