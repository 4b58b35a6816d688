// Replicas on GPUs by NCCL. On one GPU there is one replica, which has all of it but the others:
// the connection, collectives in a captured step, the end and the abort.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../../comm/replicas.hpp"

#include <cstdio>
#include <doctest/doctest.h>

using namespace replicas_test;

namespace {

using gpu = cn::policy::basic_cuda<double>;
template <int N>
using several = cn::policy::mirrored<gpu, N>;
template <int N>
using several_eagerly = cn::policy::mirrored<cn::policy::eager<gpu>, N>;
using all_there_are = cn::policy::mirrored<gpu>;

namespace strategy = cn::strategy;
using server = cn::policy::mirrored<gpu, 0, strategy::parameter_server>;
using sharded = cn::policy::mirrored<gpu, 0, strategy::sharded_optimizer>;
using sharded_eagerly =
    cn::policy::mirrored<cn::policy::eager<gpu>, 0, strategy::sharded_optimizer>;
using rounded = cn::policy::mirrored<gpu, 0, strategy::bfloat16_gradients>;
using rounded_by_host =
    cn::policy::mirrored<cn::policy::host_reduction<gpu>, 0, strategy::bfloat16_gradients>;
using in_turn = cn::policy::mirrored<gpu, 0, strategy::accumulate<2>>;
using in_turn_on_cpu =
    cn::policy::mirrored<cn::policy::basic_cpu<double>, 0, strategy::accumulate<2>>;
using combined = cn::policy::mirrored<gpu, 0, strategy::sharded_optimizer, strategy::accumulate<2>,
                                      strategy::local_batch_norm>;
using combined_on_cpu =
    cn::policy::mirrored<cn::policy::basic_cpu<double>, 0, strategy::sharded_optimizer,
                         strategy::accumulate<2>, strategy::local_batch_norm>;

// More steps than it takes until the steps of both buffers are captured; some are short.
template <class Policy, std::size_t Batch>
std::vector<double> after_fit(cn::devices const& chosen = {}) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}, chosen};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::momentum{.learning_rate = 0.1}, cn::accuracy);
    auto const h = training.fit(
        samples(101), {.epochs = 2, .validation = samples(29), .verbose = cn::verbosity::silent});
    auto all = everything(model);
    for (auto const& name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        auto const column = h[name];
        all.insert(all.end(), column.begin(), column.end());
    }
    return all;
}

// Sets the timeout for one test.
struct timeout {
    explicit timeout(double seconds) { cn::comm::timeout() = seconds; }
    ~timeout() { cn::comm::timeout() = before; }
    double before = cn::comm::timeout();
};

// A communicator whose other replica never comes.
struct lonely_host {
    static int rank() { return 0; }
    static int size() { return 2; }
    void broadcast(std::span<std::byte>, cn::comm::collective const&) {}
};

struct alone_host : lonely_host {
    static int size() { return 1; }
};

} // namespace

TEST_CASE("one replica by NCCL takes the steps of one without, and its graphs give the same bits") {
    auto const one = after_fit<gpu, 16>();
    auto const by_nccl = after_fit<several<1>, 16>();
    CHECK(largest_difference(by_nccl, one) < 1e-12);
    CHECK(after_fit<several_eagerly<1>, 16>() == by_nccl);
    CHECK(after_fit<all_there_are, 16>(cn::devices{0}) == by_nccl);
}

TEST_CASE("a step of one replica is the step on the CPU") {
    using cpu = cn::policy::basic_cpu<double>;
    for (std::size_t count : {std::size_t(16), std::size_t(5)}) {
        CHECK(largest_difference(after_steps<several<1>, 16>(samples(32), first(count)),
                                 after_steps<cpu, 16>(samples(32), first(count))) < 1e-11);
    }
}

TEST_CASE("owners of the parameters take the steps of a replica that updates all") {
    auto const one = after_fit<several<1>, 16>();
    CHECK(after_fit<server, 16>(cn::devices{0}) == one);
    CHECK(after_fit<sharded, 16>(cn::devices{0}) == one);
    CHECK(after_fit<sharded_eagerly, 16>(cn::devices{0}) == one);
}

TEST_CASE("gradients are rounded on the GPU as on the host") {
    auto const by_host = after_fit<rounded_by_host, 16>(cn::devices{0});
    CHECK(after_fit<rounded, 16>(cn::devices{0}) == by_host);
    CHECK(largest_difference(by_host, after_fit<several<1>, 16>()) > 1e-6);
}

TEST_CASE("several batches of a step, and statistics of each, are those of the CPU") {
    CHECK(largest_difference(after_fit<in_turn, 8>(cn::devices{0}),
                             after_fit<in_turn_on_cpu, 8>(cn::devices{0})) < 1e-9);
    CHECK(largest_difference(after_fit<combined, 8>(cn::devices{0}),
                             after_fit<combined_on_cpu, 8>(cn::devices{0})) < 1e-9);
}

TEST_CASE("a connection to a replica that never comes is given up in time") {
    timeout const soon{3};
    cn::cuda::session const session{cn::policy::cuda{}};
    cn::comm::detail::nccl_connection connection;
    lonely_host host;
    CHECK_THROWS_WITH_AS(connection.open(host),
                         doctest::Contains("rank 0 of 2, connection by NCCL: waited 3 s"),
                         cn::error);
    CHECK_FALSE(connection.is_open());
}

TEST_CASE("a connection ends when it is closed, aborted, or forgotten") {
    cn::cuda::session const session{cn::policy::cuda{}};
    alone_host host;
    cn::comm::detail::nccl_connection closed, aborted, forgotten;
    closed.open(host);
    aborted.open(host);
    forgotten.open(host);
    closed.close();
    CHECK_FALSE(closed.is_open());
    aborted.abort();
    CHECK_FALSE(aborted.is_open());
}

TEST_CASE("the host waits for the GPU under the eyes of the connection") {
    cn::cuda::session const session{cn::policy::cuda{}};
    alone_host host;
    cn::comm::detail::nccl_connection connection;
    connection.open(host); // which may take longer
    timeout const soon{1};
    connection.doing({"sum of that", 3, 17});
    CHECK_THROWS_WITH_AS(connection.until([] { return false; }),
                         doctest::Contains("rank 0 of 1, step 17, sum of that 3: waited 1 s"),
                         cn::error);
}

TEST_CASE("two GPUs take the steps of one") {
    if (cn::cuda::device_count() < 2) {
        std::puts("skipped: two GPUs are needed, and one is visible");
        return;
    }
    auto const one = after_fit<gpu, 16>();
    CHECK(largest_difference(after_fit<several<2>, 8>(), one) < 1e-10);
    CHECK(largest_difference(after_fit<several_eagerly<2>, 8>(), one) < 1e-10);
    CHECK(largest_difference(after_fit<all_there_are, 8>(cn::devices{1, 0}), one) < 1e-10);
    CHECK(largest_difference(after_fit<server, 8>(cn::devices{0, 1}), one) < 1e-10);
    CHECK(largest_difference(after_fit<sharded, 8>(cn::devices{0, 1}), one) < 1e-10);
    CHECK(after_fit<rounded, 8>(cn::devices{0, 1}) ==
          after_fit<rounded_by_host, 8>(cn::devices{0, 1}));
    CHECK(largest_difference(after_fit<in_turn, 8>(cn::devices{0, 1}),
                             after_fit<in_turn_on_cpu, 8>(cn::devices{0, 1})) < 1e-9);
    CHECK(largest_difference(after_fit<combined, 8>(cn::devices{0, 1}),
                             after_fit<combined_on_cpu, 8>(cn::devices{0, 1})) < 1e-9);
}
