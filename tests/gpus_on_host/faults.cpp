// Failures on simulated GPUs, in any call and at any time: the training ends with castnet::error,
// and nothing waits for what does not come.
#include <castnet/castnet.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>

#include "device.hpp"
#include "nccl.hpp"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace cn = castnet;
namespace cuda = castnet::cuda;
using simulated_nccl::count;

namespace {

using network = cn::sequential<cn::input<3>, cn::dense<4>, cn::batch_norm, cn::relu, cn::dense<2>>;
using visible = cn::policy::mirrored<on_host::policy<false>>; // sums over the batch, and buckets
constexpr std::size_t batch = 2;

// Samples that call f(how many were read) when one is read.
struct watched_set : cn::data::dataset<cn::data::label<2>, cn::shape<3>> {
    using base = cn::data::dataset<cn::data::label<2>, cn::shape<3>>;

    watched_set(std::size_t samples, std::function<void(int)> f)
        : base{values(samples), std::vector<int>(samples, 1)}, read{std::move(f)} {}

    template <std::size_t I>
    void copy_input(std::size_t sample, double* to) const {
        read((*count)++);
        base::copy_input<I>(sample, to);
    }

    std::function<void(int)> read;
    std::shared_ptr<std::atomic<int>> count = std::make_shared<std::atomic<int>>(0);

private:
    static std::vector<float> values(std::size_t samples) {
        std::vector<float> x(3 * samples);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = float(i * i % 11) / 11;
        }
        return x;
    }
};

cn::devices first_gpus(int replicas) {
    std::vector<int> all;
    for (int i = 0; i < replicas; ++i) {
        all.push_back(i);
    }
    return cn::devices{all};
}

// Steps of some GPUs: those with the numbers 0 and 1 are put on the streams piece by piece, 2 and 3
// are captured; f(number) is called before each. Says what was thrown.
std::string after_steps(int gpus, int steps, std::function<void(int)> const& f) {
    try {
        cn::model<network, visible, cn::batch<batch>> model{cn::seed{5}, first_gpus(gpus)};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        watched_set const data{4, [](int) {}};
        std::size_t const all[] = {0, 1, 2, 3};
        auto const samples = std::span{all}.first(batch * std::size_t(gpus));
        for (int i = 0; i < steps; ++i) {
            f(i);
            training.step(data, samples);
        }
    } catch (cn::error const& e) {
        return e.what();
    }
    return "nothing";
}

// What is set ends with the scope.
struct no_faults_later {
    explicit no_faults_later(double seconds) { cn::comm::timeout() = seconds; }
    ~no_faults_later() {
        cn::comm::timeout() = timeout;
        machine::here().calls.clear();
        machine::here().reports_at_capture_end = false;
        simulated_nccl::calls.clear();
        simulated_nccl::lost_rank = -1;
        simulated_nccl::lost_from = 0;
        simulated_nccl::is_stuck = false;
        simulated_nccl::failure = ncclSuccess;
    }
    double timeout = cn::comm::timeout();
};

// A communicator of one replica.
struct alone {
    static int rank() { return 0; }
    static int size() { return 1; }
    void broadcast(std::span<std::byte>, cn::comm::collective const&) {}
};

} // namespace

TEST_CASE("a failure after the capture aborts NCCL when no graph holds it any more") {
    no_faults_later const all{1};
    for (int const step : {1, 3, 4, 7}) {
        CAPTURE(step);
        auto const before = count;
        CHECK(after_steps(2, 9, [&](int i) {
                  simulated_nccl::failure = i == step ? ncclRemoteError : ncclSuccess;
              }).find("NCCL: simulated error") != std::string::npos);
        simulated_nccl::failure = ncclSuccess;
        CHECK(count.aborted == before.aborted + 2);
        CHECK(count.open == before.open);
        CHECK(count.endless == before.endless);
    }
}

TEST_CASE("a capture ends before NCCL is aborted") {
    no_faults_later const all{0.5};
    auto const before = count;
    auto const late = after_steps(2, 4, [](int i) { simulated_nccl::is_stuck = i == 2; });
    CHECK(late.find("step 2, sum over the batch") != std::string::npos);
    CHECK(late.find("waited 0.5 s") != std::string::npos);
    CHECK(count.aborted == before.aborted + 2);
    simulated_nccl::is_stuck = false;
    auto const refused = after_steps(1, 4, [](int i) {
        if (i == 2) {
            simulated_nccl::calls.set(5); // the second group, so that the graph has one
        }
    });
    CHECK(refused == "castnet: rank 0 of 1, step 2, sum over the batch 1: NCCL: simulated error");
    CHECK(count.aborted == before.aborted + 3);
    CHECK(count.open == before.open);
    CHECK(count.endless == before.endless);
}

TEST_CASE("no graph is left where the end of its capture reports an error") {
    no_faults_later const all{0.5};
    auto const before = count;
    auto const said =
        after_steps(2, 4, [](int i) { machine::here().reports_at_capture_end = i == 2; });
    CHECK(said.find("cudaStreamEndCapture") != std::string::npos);
    CHECK(count.aborted == before.aborted + 2);
    CHECK(count.open == before.open);
    CHECK(count.endless == before.endless);
}

TEST_CASE("what the program throws does not wait for a replica that is lost") {
    no_faults_later const all{0.5};
    auto const before = count;
    alarm(100); // ends the program
    std::string said;
    try {
        cn::model<network, visible, cn::batch<batch>> model{cn::seed{5}, first_gpus(2)};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        training.fit(watched_set{64, [](int) {}},
                     {.epochs = 1,
                      .schedule =
                          [](std::uint64_t step, std::uint64_t) {
                              if (step == 7) { // the last ones are on their way
                                  simulated_nccl::lost_rank = 1;
                                  throw std::runtime_error("enough");
                              }
                              return 0.1;
                          },
                      .verbose = cn::verbosity::silent});
    } catch (std::exception const& e) {
        said = e.what();
    }
    alarm(0);
    CHECK(said == "enough");
    CHECK(count.aborted == before.aborted + 2);
    CHECK(count.open == before.open);
    CHECK(count.endless == before.endless);
}

TEST_CASE("a group of collectives ends when one of them is refused") {
    no_faults_later const all{1};
    cuda::stream const s;
    cuda::memory const numbers{2 * sizeof(double)};
    alone host;
    auto const add = [&](cn::comm::detail::nccl_connection& connection) {
        connection.together(s.get(), {"sum"}, [&](auto const& calls) {
            calls.sum(std::span{numbers.as<double>(), 1});
            calls.sum(std::span{numbers.as<double>(1), 1});
        });
    };
    for (std::uint64_t const refused : {1U, 2U, 3U, 4U}) { // begin, two sums, end
        CAPTURE(refused);
        int const aborted = count.aborted, collectives = count.collectives;
        cn::comm::detail::nccl_connection connection;
        connection.open(host);
        simulated_nccl::calls.set(refused);
        CHECK_THROWS_WITH_AS(add(connection), "castnet: rank 0 of 1, sum: NCCL: simulated error",
                             cn::error);
        CHECK(count.aborted == aborted + 1);
        cn::comm::detail::nccl_connection next;
        next.open(host);
        add(next);
        s.wait();
        CHECK(count.collectives == collectives + 1);
        next.close();
    }
}

TEST_CASE("work that could not be prepared is prepared again, not captured") {
    cuda::stream const s;
    cuda::repeated_work all;
    std::string done;
    auto const submit = [&](bool fails) {
        all.submit(
            {&s, cuda::work_kind::run, false}, s, true,
            [&] {
                done += fails ? "failed " : "prepared ";
                if (fails) {
                    throw cn::error("no memory");
                }
            },
            [&] { done += s.is_captured() ? "captured " : "enqueued "; }, [] {});
    };
    CHECK_THROWS_AS(submit(true), cn::error);
    submit(false);
    submit(false);
    CHECK(done == "failed prepared enqueued captured ");
    all.forget();
    submit(false);
    CHECK(done == "failed prepared enqueued captured prepared enqueued ");
}

TEST_CASE("no launch of a graph allocates, while another GPU may wait for this one") {
    auto const before = machine::here().launches_that_allocate;
    CHECK(after_steps(2, 9, [](int) {}) == "nothing");
    CHECK(machine::here().launches_that_allocate == before);
}

namespace {

struct outcome {
    std::string said;       // empty if nothing was thrown
    bool has_struck = true; // before the training had ended
};

// A training of some GPUs, with everything that fit() does.
outcome fitted(int replicas, watched_set const& data, std::function<bool()> const& has_struck) {
    try {
        cn::model<network, visible, cn::batch<batch>> model{cn::seed{5}, first_gpus(replicas)};
        auto training = cn::compile(model, cn::cross_entropy, cn::momentum{}, cn::accuracy);
        training.fit(data, {.epochs = 4, .validation = data, .verbose = cn::verbosity::silent});
        return {"", has_struck()};
    } catch (cn::error const& e) {
        return {e.what()};
    }
}

// Numbers from 0 on below `count`.
struct random_numbers {
    std::uint64_t state;
    std::uint64_t operator()(std::uint64_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return (state >> 33) % below;
    }
};

std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
    char const* const set = std::getenv(name);
    return set == nullptr ? otherwise : std::strtoull(set, nullptr, 10);
}

} // namespace

// More of them, and others:
//   CASTNET_FAULT_RUNS=200 CASTNET_FAULT_SEED=7 test_gpus_on_host --test-case="whatever fails*"
TEST_CASE("whatever fails, and when, a training ends with an error and does not hang") {
    auto const runs = from_environment("CASTNET_FAULT_RUNS", 24),
               seed = from_environment("CASTNET_FAULT_SEED", 1);
    constexpr std::size_t samples = 13;
    std::uint64_t cuda_calls[4], nccl_calls[4], collectives[4], reads[4];
    for (int const replicas : {1, 2, 3}) { // what there is to fail
        machine::here().calls.clear();
        simulated_nccl::calls.clear();
        int const before = count.collectives;
        watched_set const data{samples, [](int) {}};
        CHECK(fitted(replicas, data, [] { return false; }).said == "");
        cuda_calls[replicas] = machine::here().calls.calls();
        nccl_calls[replicas] = simulated_nccl::calls.calls();
        collectives[replicas] = std::uint64_t(count.collectives - before);
        reads[replicas] = std::uint64_t(*data.count);
    }
    auto const before = count;
    std::uint64_t struck = 0;
    for (std::uint64_t run = 0; run < runs; ++run) {
        random_numbers random{seed * 1000 + run};
        random(1);
        int const replicas = 1 + int(random(3));
        auto const what = random(16);
        CAPTURE(seed);
        CAPTURE(run);
        CAPTURE(what);
        alarm(100); // ends the program
        no_faults_later const all{1.5};
        machine::here().random = 1 + random(1000);
        int const when = int(random(reads[replicas]));
        std::function<void(int)> at_read = [](int) {};
        std::function<bool()> has_struck = [] { return false; };
        if (what < 8) { // once, or from then on
            machine::here().calls.set(1 + random(cuda_calls[replicas]), what < 4);
            has_struck = [] { return machine::here().calls.has_struck(); };
        } else if (what < 11) {
            simulated_nccl::calls.set(1 + random(nccl_calls[replicas]));
            has_struck = [] { return simulated_nccl::calls.has_struck(); };
        } else if (what < 13) {
            at_read = [=](int number) {
                if (number == when) {
                    throw cn::error("cannot read");
                }
            };
        } else if (what == 13) {
            at_read = [=](int number) {
                if (number == when) {
                    simulated_nccl::failure = ncclRemoteError;
                }
            };
        } else if (what == 14) { // a deadline
            simulated_nccl::lost_from = random(collectives[replicas]);
            simulated_nccl::lost_rank = int(random(std::uint64_t(replicas)));
        } else { // a deadline
            at_read = [=](int number) {
                if (number == when) {
                    simulated_nccl::is_stuck = true;
                }
            };
        }
        outcome found;
        try {
            watched_set const data{samples, at_read};
            found = fitted(replicas, data, has_struck);
        } catch (std::exception const& e) {
            FAIL_CHECK("ended with what is no castnet::error: " << e.what());
        }
        alarm(0);
        CHECK_MESSAGE((!found.said.empty() || !found.has_struck), "nothing was thrown");
        struck += !found.said.empty();
    }
    CHECK(struck * 10 >= runs * 7);
    CHECK(count.open == before.open);
    CHECK(count.endless == before.endless);
}
