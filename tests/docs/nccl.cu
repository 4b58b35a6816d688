// The programs of docs/distributed.md that need GPUs, between "// [name]" and "// [/name]".
// [include]
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>
// [/include]

#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

using network = cn::sequential<cn::input<1, 12, 12>, cn::conv2d<8, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::flatten, cn::dense<10>>;

// [policies]
using four = cn::policy::mirrored<cn::policy::cuda, 4>; // GPUs 0 to 3
using visible = cn::policy::mirrored<cn::policy::cuda>; // as many as the program sees
using trial = cn::policy::logical<cn::policy::cuda, 4>; // four replicas on one GPU, without NCCL
// [/policies]

} // namespace

TEST_CASE("the programs of docs/distributed.md that need GPUs") {
    cn::data::dataset<cn::data::label<10>, cn::shape<1, 12, 12>> const data{
        std::vector<float>(20 * 144, 0.5F), std::vector<int>(20, 3)};
    {
        // [devices]
        cn::model<network, visible, cn::batch<16>> model{cn::seed{42}, cn::devices{0}};
        // [/devices]
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
        auto const history = training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
        CHECK(history["accuracy"].back() == 1);
        CHECK(training.replica_count() == 1);
    }
    cn::model<network, trial, cn::batch<4>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
    CHECK(history["accuracy"].back() == 1);
    CHECK(training.replica_count() == four::replicas);
}
