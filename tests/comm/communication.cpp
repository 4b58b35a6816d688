// What replicas send each other: what the plan says, and nothing else.
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/communication_report.hpp>

#include "observed.hpp"
#include "replicas.hpp"

#include <doctest/doctest.h>

using namespace replicas_test;

namespace {

using adam_training =
    decltype(cn::compile(std::declval<cn::model<network, cn::policy::cpu, cn::batch<8>>&>(),
                         cn::cross_entropy, cn::adam{}, cn::accuracy));
using report = cn::communication_report<adam_training>;

// Three layers of 512 x 512: the example of PyTorch DDP's tests of buckets.
using three_dense = cn::sequential<cn::input<512>, cn::dense<512>, cn::dense<512>, cn::dense<512>>;

template <class Policy>
auto weights_after_fit() {
    cn::model<network, Policy, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(samples(150), {.epochs = 3, .verbose = cn::verbosity::silent});
    return everything(model);
}

// Of a network where no sample looks at another one.
template <class Policy, std::size_t Batch>
auto weights_after_step(data_set const& data, std::size_t count) {
    using plain = cn::sequential<cn::input<2, 5, 5>, cn::conv2d<4, 3>, cn::relu, cn::flatten,
                                 cn::dropout<0.25F>, cn::dense<3>>;
    cn::model<plain, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.1});
    training.step(data, first(count));
    return everything(model);
}

} // namespace

TEST_CASE("a step makes the collectives of its plan, from the first one on") {
    using policy = observed<cn::policy::mirrored<cn::policy::cpu, 2>, recorder>;
    cn::model<network, policy, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const data = samples(64);
    for (std::uint64_t step = 0; step < 2; ++step) {
        calls.clear();
        training.step(data, first(16));
        if (step == 0) { // weights and optimizer state of rank 0
            REQUIRE(calls.size() > 2);
            CHECK(calls[0].what == "broadcast of parameters");
            CHECK(calls[0].bytes == model.parameter_bytes);
            CHECK(calls[1].bytes == training.optimizer_bytes);
            calls.erase(calls.begin(), calls.begin() + 2);
        }
        std::vector<call> expected;
        int sums = 0, buckets = 0;
        for (auto const& e : report::exchanges::all()) {
            char const* const what =
                e.gradients ? "sum of gradients, bucket" : "sum over the batch";
            expected.push_back({what, e.gradients ? buckets++ : sums++, step,
                                std::size_t(e.count) * sizeof(float)});
        }
        expected.push_back({"sum of loss and metrics", -1, step, 3 * sizeof(double)});
        CHECK(calls == expected);
        std::size_t bytes = 0;
        for (call const& c : calls) {
            bytes += c.bytes;
        }
        CHECK(bytes == report::bytes);
        CHECK(calls.size() == report::collectives);
    }
}

TEST_CASE("batch normalisation needs its sums, each when it is read; the rest goes in buckets") {
    // mean and variance forward, and backward both sums of a layer at once: of 4 and of 6 channels
    CHECK(report::sums == 6);
    CHECK(report::sum_bytes == (2 + 2) * (4 + 6) * sizeof(float));
    CHECK(report::buckets == 1);
    CHECK(report::gradient_bytes <= adam_training::gradient_bytes);

    using model = cn::model<three_dense, cn::policy::cpu, cn::batch<4>>;
    using training = decltype(cn::compile(std::declval<model&>(), cn::mse, cn::sgd{}));
    CHECK(cn::communication_report<training>::sums == 0);
}

TEST_CASE("buckets hold neighbours, up to their limits, in the order in which they are complete") {
    using training =
        decltype(cn::compile(std::declval<cn::model<three_dense, cn::policy::cpu, cn::batch<4>>&>(),
                             cn::mse, cn::sgd{}));
    static constexpr auto const& plan = training::training_plan();
    using finder = cn::ir::communication_finder<std::remove_cvref_t<decltype(plan)>>;
    auto const d = finder{plan, 4, {1 << 20, 1 << 20}}.run();
    // From the last layer to the first: its bias with nothing that fits beside it, then its weight,
    // …
    std::vector<std::ptrdiff_t> counts;
    std::ptrdiff_t end = plan.elements(cn::ir::region::gradients);
    int before = -1;
    for (cn::ir::exchange const& e : d.exchanges) {
        cn::ir::element_range const& r = d.ranges[e.first];
        CHECK(r.offset + r.count == end);
        CHECK(e.after >= before);
        end = r.offset;
        before = e.after;
        counts.push_back(r.count);
    }
    CHECK(end == 0);
    CHECK(counts == std::vector<std::ptrdiff_t>{512, 512 * 512, 512, 512 * 512, 512, 512 * 512});

    // all but the last can be sent while other steps run
    CHECK(d.exchanges[0].after < d.exchanges[1].after);
    CHECK(d.exchanges[4].after < int(std::size(plan.launches)) - 1);

    auto const large = finder{plan, 4, {1 << 20, 25 << 20}}.run();
    REQUIRE(large.exchanges.size() == 2);
    CHECK(large.ranges[0].count == 512);
    CHECK(large.ranges[1].count == plan.elements(cn::ir::region::gradients) - 512);
}

TEST_CASE("frozen layers send nothing") {
    using partly =
        cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::frozen<cn::dense<20>>, cn::dense<16>>;
    using training =
        decltype(cn::compile(std::declval<cn::model<partly, cn::policy::cpu, cn::batch<8>>&>(),
                             cn::cross_entropy, cn::adam{}));
    CHECK(cn::communication_report<training>::gradient_bytes == (20 * 16 + 16) * sizeof(float));
}

TEST_CASE("another order of the sums gives other bits") {
    using eight = cn::policy::mirrored<cn::policy::cpu, 8>;
    auto const tree = weights_after_fit<eight>();
    CHECK(tree == weights_after_fit<eight>());
    auto const line = weights_after_fit<observed<eight, in_line>>();
    CHECK(tree != line);
    CHECK(largest_difference(tree, line) < 1e-2);
}

TEST_CASE("replicas that average their own means take other steps, unless they have equal shares") {
    using one = cn::policy::basic_cpu<double>;
    using means = observed<cn::policy::mirrored<one, 3>, averaging>;
    auto const data = samples(24);
    for (std::size_t const count : {24UL, 22UL}) {
        CAPTURE(count);
        samples_of_step = count;
        double const difference = largest_difference(weights_after_step<means, 8>(data, count),
                                                     weights_after_step<one, 24>(data, count));
        CHECK((count == 24 ? difference < 1e-12 : difference > 1e-6));
    }
}

TEST_CASE("the model of time: bytes over the bandwidth, and messages") {
    constexpr cn::connection c{1e-5, 1e9};
    using r = report;
    CHECK(r::bytes_sent(1) == 0);
    CHECK(r::bytes_sent(4) == doctest::Approx(1.5 * double(r::bytes)));
    CHECK(r::seconds(4, c) == doctest::Approx(6e-5 * r::collectives + 1.5e-9 * double(r::bytes)));
    double const b = r::break_even_batch(4, 1e9, c);
    double const sample = double(adam_training::flops_per_sample) / 1e9;
    CHECK(b * sample + r::seconds(4, c) == doctest::Approx(4 * b * sample)); // one alone
    CHECK(r::efficiency(4, b, 1e9, c) == doctest::Approx(0.25));
}
