// The programs of docs/distributed.md, between "// [name]" and "// [/name]"; check_snippets.sh
// compares.
#include <doctest/doctest.h>

// clang-format off
// [mirrored]
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

using where = cn::policy::mirrored<cn::policy::cpu, 4>;
// [/mirrored]

#include <castnet/policy/model_parallel.hpp>
#include <castnet/train/communication_report.hpp>

#include <vector>

namespace {
using network = cn::sequential<cn::input<2>, cn::dense<16>, cn::batch_norm, cn::relu, cn::dense<4>>;

// [devices]
struct siamese {
    static constexpr auto encoder = cn::shared<"encoder", cn::block<cn::dense<64>, cn::tanh>>;

    constexpr auto operator()(auto left, auto right) const {
        auto const a = left | cn::on<0, encoder>;
        auto const b = right | cn::on<1, encoder>; // beside the first one
        return cn::concat(a, b) | cn::on<2, cn::dense<2>>;
    }
};
using pair = cn::network<siamese{}, cn::input<140>, cn::input<140>>;
using three_devices = cn::policy::model_parallel<cn::policy::cpu, 3>;
// [/devices]

// [device_memory]
using paired = cn::model<pair, three_devices, cn::batch<32>>;
using pair_training = cn::training<paired, cn::cross_entropy_loss<0.0F>, cn::adam>;
static_assert(pair_training::device_bytes(2) < pair_training::device_bytes(0));
// [/device_memory]
}

TEST_CASE("docs/distributed.md") {
    auto const data = cn::data::blobs<4, 2>(300, 1);
// [fit]
cn::model<network, where, cn::batch<32>> model{cn::seed{42}};
auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent}); // 128 samples a step
// [/fit]
    CHECK(training.step_capacity() == 128);
    CHECK(training.steps() == 6);
// [report]
using report = cn::communication_report<decltype(training)>;
static_assert(report::collectives == 5); // 3 for batch normalisation, gradients, totals
constexpr cn::connection ethernet{.latency = 12e-6, .bandwidth = 3.1e9};
double const share = report::efficiency(64, 128, 2e12, ethernet); // replicas, batch, flops
// [/report]
    CHECK(share > 0);
    CHECK(share < 1);
    {
// [strategy]
namespace strategy = cn::strategy;
using sharded =
    cn::policy::mirrored<cn::policy::cpu, 4, strategy::sharded_optimizer, strategy::accumulate<8>>;
cn::model<network, sharded, cn::batch<32>> large{cn::seed{42}};
auto steps = cn::compile(large, cn::cross_entropy, cn::adam{}); // of up to 4 * 8 * 32 samples
// [/strategy]
        CHECK(steps.step_capacity() == 1024);
        CHECK(steps.step(data, std::vector<std::size_t>{1, 2, 3}).weight == 3);
    }
}

TEST_CASE("docs/distributed.md: devices") {
    paired model;
    pair_training training{model, cn::adam{}};
    std::vector<float> left(140 * 8, 0.5F), right(left);
    std::vector<int> const same{0, 1, 0, 1, 0, 1, 0, 1};
    cn::data::dataset<cn::data::label<2>, cn::shape<140>, cn::shape<140>> const data{left, right,
                                                                                     same};
    CHECK(training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent}).epochs() == 2);
}
// clang-format on
