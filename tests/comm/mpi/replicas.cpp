// Replicas in processes, compared with one replica and with threads. Every process of the job runs
// all tests; tests/comm/mpi/CMakeLists.txt starts jobs of several sizes.
#include "../replicas.hpp"

#include "../team.hpp"

#include <doctest/doctest.h>

using namespace replicas_test;

namespace {

using one = cn::policy::basic_cpu<double>;

using processes = cn::policy::distributed<cn::policy::cpu>;
using threads = cn::policy::mirrored<cn::policy::cpu>;
using both = cn::policy::distributed<threads>;

} // namespace

TEST_CASE("processes take the same steps as one replica with the whole batch") {
    auto const data = samples(64);
    std::size_t const full = 8 * std::size_t(cn::comm::mpi{}.size());
    for (std::size_t count : {full, full - 3, std::size_t{3}}) {
        CAPTURE(count);
        CHECK(largest_difference(after_steps<cn::policy::distributed<one>, 8>(data, first(count)),
                                 after_steps<one, 64>(data, first(count))) < 1e-12);
    }
}

TEST_CASE("processes and threads get the same bits, however replicas are split between them") {
    auto const data = samples(64);
    int const size = cn::comm::mpi{}.size();
    for (int in_each : {1, 2, 4, 8}) {
        int const replicas = size * in_each;
        if (replicas > 8) {
            continue;
        }
        CAPTURE(in_each);
        for (std::size_t count : {std::size_t(replicas) * 8, std::size_t(replicas) * 8 - 1, 7UL}) {
            auto const expected = after_steps<threads, 8>(data, first(count), {}, some(replicas));
            CHECK(after_steps<both, 8>(data, first(count), {}, some(in_each)) == expected);
            if (in_each == 1) {
                CHECK(after_steps<processes, 8>(data, first(count)) == expected);
            }
        }
    }
}

TEST_CASE("a fit goes on from the state of rank 0") {
    auto const data = samples(43);
    int const rank = cn::comm::mpi{}.rank();
    auto const fitted = [&]<class Policy>(Policy, bool disturbed, int replicas_here = 1) {
        cn::model<network, Policy, cn::batch<8>> model{cn::seed{5}, some(replicas_here)};
        if (disturbed) {
            auto bias = model.get("9.bias");
            bias[0] = double(rank);
            model.set("9.bias", bias);
        }
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
        auto const h =
            training.fit(data, {.epochs = 2, .validation = data, .verbose = cn::verbosity::bar});
        auto all = everything(model);
        all.push_back(h["val_loss"].back());
        return all;
    };
    auto const all = fitted(cn::policy::distributed<one>{}, true);
    CHECK(all == fitted(cn::policy::distributed<one>{}, false));
    CHECK(all == fitted(cn::policy::mirrored<one>{}, false, cn::comm::mpi{}.size()));
}

TEST_CASE("processes accumulate, group, freeze and average as threads do") {
    auto const data = samples(43);
    auto const fitted = [&]<class Policy>(Policy, int replicas_here = 1) {
        cn::model<network, Policy, cn::batch<4>> model{cn::seed{5}, some(replicas_here)};
        auto training = cn::compile(
            model, cn::cross_entropy,
            cn::accumulate<2>(cn::groups(cn::ema(cn::clip_norm(cn::adam{}, 1), 0.5),
                                         cn::parameter_group{.names = "*.bias", .rate = 2})),
            cn::confusion_matrix<3>);
        training.freeze("0.weight");
        auto const before = model.get("0.weight");
        training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
        CHECK(model.get("0.weight") == before);
        auto all = everything(model);
        cn::averaged_weights const now{training};
        auto const averages = everything(model);
        all.insert(all.end(), averages.begin(), averages.end());
        auto const s = training.evaluate(data);
        all.push_back(s.loss());
        all.push_back(s.template counts<"confusion_matrix">()(1, 2));
        return all;
    };
    auto const expected = fitted(cn::policy::mirrored<one>{}, cn::comm::mpi{}.size());
    CHECK(fitted(cn::policy::distributed<one>{}) == expected);
    CHECK(fitted(cn::policy::distributed<one, cn::strategy::sharded_optimizer>{}) == expected);
}

TEST_CASE("sums of every length, and what all gather and are told") {
    cn::comm::mpi all;
    int const rank = all.rank(), size = all.size();
    for (int const length : {0, 1, 5, 1023, 1024, 1025, 4099, 100'001}) {
        auto const count = std::size_t(length);
        CAPTURE(count);
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = float(int(i % 17) + rank);
        }
        all.sum(std::span{values}, {"sum of the test"});
        bool right = true;
        for (std::size_t i = 0; i < count; ++i) {
            right = right && values[i] == float(size * int(i % 17) + size * (size - 1) / 2);
        }
        CHECK(right);
    }
    std::vector<int> mine{rank, 10 * rank}, gathered(2 * std::size_t(size));
    all.gather(std::as_bytes(std::span{mine}), std::as_writable_bytes(std::span{gathered}),
               {"gathering"});
    for (int r = 0; r < size; ++r) {
        CHECK(gathered[2 * std::size_t(r)] == r);
        CHECK(gathered[2 * std::size_t(r) + 1] == 10 * r);
    }
    std::vector<int> told(1000, rank);
    all.broadcast(std::as_writable_bytes(std::span{told}), {"telling"});
    CHECK(told == std::vector<int>(1000, 0));
}

TEST_CASE("a sum that was begun waits for nobody, and others may be made meanwhile") {
    cn::comm::mpi all;
    int const rank = all.rank(), size = all.size();
    std::vector<float> large(20'000, float(rank + 1)), other(100, 1);
    int go_on = 0;
    if (rank != 0) { // comes when rank 0 has gone on
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    all.begin_sum(std::span{large}, {"bucket", 0});
    if (rank == 0) {
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    all.sum(std::span{other}, {"sum in between"});
    CHECK(other == std::vector<float>(100, float(size)));
    all.finish();
    CHECK(large == std::vector<float>(20'000, float(size * (size + 1) / 2)));
}

namespace {

template <class Communicator>
void check_owners(Communicator& all) {
    std::size_t const total = 6000, count = 5555;
    cn::comm::part const pieces[] = {{10, 20}, {100, 5645}};
    int const rank = all.rank(), size = all.size();
    for (cn::comm::owners const who :
         {cn::comm::owners::first(), cn::comm::owners::shards(pieces, total)}) {
        std::vector<float> values(count), sums(count);
        for (std::size_t k = 0; k < count; ++k) {
            values[k] = sums[k] = std::sin(float(k * 37 + std::size_t(rank)));
        }
        all.begin_sum(std::span{sums}, {"sum"});
        all.begin_reduce(std::span{values}, who, {"reduce"});
        all.finish();
        cn::comm::part const mine = who.of(count, rank, size);
        for (std::size_t k = 0; k < count; ++k) {
            values[k] = k >= mine.first && k < mine.last ? values[k] : -2;
        }
        all.begin_share(std::span{values}, who, {"share"});
        all.finish();
        if (values != sums) {
            throw cn::error("owners have other sums");
        }
    }
}

} // namespace

TEST_CASE("owners get the sums of their parts, and everybody what the owners have") {
    cn::comm::mpi all;
    check_owners(all);
    cn::comm::processes<cn::comm::threads<2>> both{2};
    both.run([](int, auto& others) { check_owners(others); });
}
