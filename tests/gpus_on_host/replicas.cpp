// Trainings on simulated GPUs: one of them, several that share one, and several by NCCL take the
// steps that one device takes, in every order of work that their streams and events allow.
#include "../comm/replicas.hpp"

#include <castnet/castnet.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>

#include "device.hpp"
#include "nccl.hpp"

#include <doctest/doctest.h>

using namespace replicas_test;
using simulated_nccl::count;

namespace {

using gpu = on_host::policy<false>;
using eager_gpu = cn::policy::eager<gpu>;
using small_gpu = on_host::policy<true>; // tiny networks' steps are one kernel
using reference = simt::policy<false>;   // the same kernels, without streams
template <int N>
using several = cn::policy::mirrored<gpu, N>;
using visible = cn::policy::mirrored<gpu>;

// Until both slots of a step have been graphs some times; the last step of an epoch is short, and
// has fewer samples than there are replicas.
template <class Policy, std::size_t Batch>
std::vector<double> after_fit(cn::devices const& chosen = {}, std::size_t size = 66) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}, chosen};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::momentum{.learning_rate = 0.1}, cn::accuracy);
    auto const h = training.fit(samples(size), {.epochs = 3,
                                                .schedule = cn::one_cycle(0.05),
                                                .validation = samples(13),
                                                .class_weight = {1, 0.5F, 2},
                                                .verbose = cn::verbosity::silent});
    auto all = everything(model);
    for (auto const& name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        auto const column = h[name];
        all.insert(all.end(), column.begin(), column.end());
    }
    return all;
}

std::vector<double> const& expected() { // batches of 16
    static std::vector<double> const all = after_fit<reference, 16>();
    return all;
}

// Runs f with several orders of work.
template <class F>
void in_several_orders(F const& f) {
    for (std::uint64_t seed : {1, 77, 4711}) {
        CAPTURE(seed);
        machine::here().random = seed;
        f();
        CHECK(count.open == 0);
    }
}

struct deadline {
    explicit deadline(double seconds) { cn::comm::deadline() = seconds; }
    ~deadline() { cn::comm::deadline() = before; }
    double before = cn::comm::deadline();
};

std::string failure(auto const& f) {
    try {
        f();
    } catch (cn::error const& e) {
        std::string text = e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (std::exception const& cause) {
            text += std::string(" <- ") + cause.what();
        }
        return text;
    }
    return "nothing";
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("one GPU, piece by piece and by graphs") {
    in_several_orders([] {
        auto const launches = machine::here().launches;
        CHECK(after_fit<gpu, 16>() == expected());
        CHECK(machine::here().launches > launches);
        CHECK(after_fit<eager_gpu, 16>() == expected());
        CHECK(largest_difference(after_fit<small_gpu, 16>(), expected()) < 1e-10);
    });
}

TEST_CASE("replicas that share a GPU") {
    in_several_orders([] {
        CHECK(largest_difference(after_fit<cn::policy::logical<gpu, 2>, 8>(), expected()) < 1e-10);
        CHECK(largest_difference(after_fit<cn::policy::logical<gpu, 4>, 4>(), expected()) < 1e-10);
    });
}

TEST_CASE("replicas by NCCL, whose sums are part of the graphs") {
    in_several_orders([] {
        int const collectives = count.collectives, in_graphs = count.in_graphs;
        CHECK(largest_difference(after_fit<several<1>, 16>(), expected()) < 1e-12);
        CHECK(largest_difference(after_fit<several<2>, 8>(), expected()) < 1e-10);
        CHECK(largest_difference(after_fit<several<4>, 4>(), expected()) < 1e-10);
        CHECK(largest_difference(after_fit<cn::policy::mirrored<small_gpu, 2>, 8>(), expected()) <
              1e-10);
        CHECK(count.collectives > collectives);
        CHECK(count.in_graphs > in_graphs);
    });
    CHECK(count.aborted == 0);
}

TEST_CASE("as many GPUs as the program sees, or those that are chosen") {
    CHECK(largest_difference(after_fit<visible, 4>(), expected()) < 1e-10); // there are 4
    auto const two = after_fit<visible, 8>(cn::devices{3, 1});
    CHECK(largest_difference(two, expected()) < 1e-10);
    CHECK(largest_difference(after_fit<cn::policy::mirrored<eager_gpu, 2>, 8>(), two) == 0);
    CHECK_THROWS_WITH_AS((after_fit<visible, 8>(cn::devices{0, 4})),
                         doctest::Contains("was given GPU 4, but the program sees 4"), cn::error);
}

TEST_CASE(
    "a captured step makes the collectives of its plan, with the results in the last bucket") {
    cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    using exchanges = cn::communication_of<decltype(training)::training_plan, sizeof(double)>;
    auto const data = samples(16);
    for (int i = 0; i < 4; ++i) { // both slots, piece by piece and captured
        training.step(data, first(16));
    }
    int const collectives = count.collectives, in_graphs = count.in_graphs;
    training.step(data, first(16));
    CHECK(count.collectives - collectives == exchanges::exchange_count);
    CHECK(count.in_graphs - in_graphs == 2 * exchanges::exchange_count);
}

namespace {
// Data of which one sample cannot be read.
struct broken_set : data_set {
    explicit broken_set(data_set const& all) : data_set{all} {}
    template <std::size_t I>
    void copy_input(std::size_t sample, double* to) const {
        if (sample == 15) {
            throw std::runtime_error("no sample 15");
        }
        data_set::copy_input<I>(sample, to);
    }
};
} // namespace

TEST_CASE("what a replica throws ends all, and what waits on the GPUs") {
    auto const data = samples(16);
    int const aborted = count.aborted;
    auto const text = failure([&] {
        cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        for (int i = 0; i < 5; ++i) {
            training.step(data, first(16));
        }
        training.step(broken_set{data}, first(16)); // the first replica has put its step on its GPU
    });
    CHECK(contains(text, "no sample 15"));
    CHECK(count.aborted == aborted + 2);
    CHECK(count.open == 0);
}

TEST_CASE("a GPU that does not come to a sum is given up in time, with a message") {
    deadline const soon{1};
    auto const steps = [](auto const& where, int before) {
        using policy = std::remove_cvref_t<decltype(where)>;
        cn::model<network, policy, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        for (int i = 0; i < before; ++i) {
            training.step(samples(16), first(16));
        }
        simulated_nccl::lost_rank = 1;
        training.step(samples(16), first(16));
    };
    auto const eager = failure([&] { steps(several<2>{}, 1); });
    simulated_nccl::lost_rank = -1;
    CHECK(contains(eager, "of 2, step 1, sum over the batch 0: waited 1 s for the other replicas"));
    auto const captured = failure([&] { steps(several<2>{}, 5); });
    simulated_nccl::lost_rank = -1;
    CHECK(contains(captured, "of 2, step 5, sums of a captured step: waited 1 s"));
    CHECK(count.open == 0);
}

TEST_CASE("what NCCL reports ends the step") {
    auto const text = failure([] {
        cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        training.step(samples(16), first(16));
        simulated_nccl::failure = ncclRemoteError;
        training.step(samples(16), first(16));
    });
    simulated_nccl::failure = ncclSuccess;
    CHECK(contains(text, "NCCL: simulated error"));
    CHECK(count.open == 0);
}

namespace {
// A communicator whose other replica never comes.
struct lonely_host {
    static int rank() { return 0; }
    static int size() { return 2; }
    void broadcast(std::span<std::byte>, cn::comm::collective const&) {}
};
} // namespace

TEST_CASE("a connection to a replica that never comes is given up in time") {
    deadline const soon{0.2};
    cn::comm::detail::nccl_connection connection;
    lonely_host host;
    CHECK_THROWS_WITH_AS(
        connection.open(host),
        "castnet: rank 0 of 2, step 0, connection by NCCL: waited 0.2 s for the other "
        "replicas; see comm::deadline()",
        cn::error);
    CHECK_FALSE(connection.is_open());
    CHECK(count.open == 0);
}
