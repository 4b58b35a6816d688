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

#include <castnet/train/communication_report.hpp>

namespace {
using network = cn::sequential<cn::input<2>, cn::dense<16>, cn::batch_norm, cn::relu, cn::dense<4>>;
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
}
// clang-format on
