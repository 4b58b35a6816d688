// Trains with a checkpoint after every epoch, where one process fails or differs in the way that is
// asked for: see fault.sh. Run again with "none" it goes on from the checkpoint.
//
//   test_mpi_fault FAULT CHECKPOINT [threads | sharded]
//
// "none" prints the weights' sum, to the last bit. With "threads" every process has two replicas,
// with "sharded" a part of the optimizer's state. The process is that of rank 1.
#include <castnet/policy/distributed.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/checkpoint.hpp>

#include "../replicas.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace replicas_test;

namespace {

using small = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<6>, cn::batch_norm,
                             cn::tanh, cn::dropout<0.25F>, cn::dense<3>>;

std::string fault; // "none" in the processes that do not fail
std::atomic<bool> now = false;

// In the third epoch.
void fail_in_callback() {
    if (fault == "exception" || fault == "caught") {
        throw std::runtime_error("a replica failed on purpose");
    } else if (fault == "exit") {
        std::exit(3);
    } else if (fault == "leave") {
        std::exit(0);
    } else if (fault == "quit") {
        _exit(0);
    } else if (fault == "kill") {
        std::raise(SIGKILL);
    } else if (fault == "stop") {
        std::raise(SIGSTOP);
    }
}

// Fails from the third epoch on, where a sample is read.
struct faulty_set : data_set {
    using data_set::data_set;
    faulty_set(data_set const& all) : data_set{all} {}

    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* to) const {
        if (now && fault == "read") {
            throw std::runtime_error("a sample cannot be read");
        } else if (now && fault == "int") {
            throw 1;
        } else if (now && fault == "thread-exit") {
            std::exit(3);
        }
        data_set::copy_input<I>(sample, to);
    }
    float weight(std::size_t sample) const {
        if (now && fault == "weight") {
            throw std::runtime_error("a weight cannot be read");
        }
        return data_set::weight(sample);
    }
};

// 43 samples, of which those of the process that differs have other values.
faulty_set data_of(std::string const& kind) {
    std::size_t const count = fault == kind + "-size" ? 40 : 43;
    auto const all = samples(count);
    if (fault != kind + "-values" && fault != kind + "-nan" && fault != kind + "-labels") {
        return all;
    }
    std::vector<float> x(count * 50);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < count; ++i) {
        float label = 0;
        all.copy_input<0>(i, x.data() + i * 50);
        all.copy_target(i, &label);
        y[i] = fault == kind + "-labels" ? 2 - int(label) : int(label);
    }
    x[17] = fault == kind + "-values" ? 9 : x[17];
    x[17] = fault == kind + "-nan" ? std::numeric_limits<float>::quiet_NaN() : x[17];
    return data_set{std::move(x), y};
}

template <class Policy, std::size_t Batch>
int run(char const* checkpoint) {
    cn::model<small, Policy, cn::batch<Batch>> model{cn::seed{fault == "seed" ? 6U : 5U}};
    auto training = cn::compile(model, cn::cross_entropy,
                                cn::adam{.beta_1 = fault == "optimizer" ? 0.8 : 0.9}, cn::accuracy);
    if (access(checkpoint, R_OK) == 0) {
        cn::load(training, checkpoint);
    }
    auto const data = data_of("data"), validation = data_of("validation");
    training.fit(data, {.epochs = fault == "epochs" ? 6 : 5,
                        .schedule = cn::one_cycle(fault == "schedule" ? 2e-3 : 1e-3),
                        .validation = validation,
                        .class_weight = {1, fault == "class-weight" ? 2.0F : 1.0F, 1},
                        .shuffle = fault != "shuffle",
                        .verbose = cn::verbosity::silent,
                        .checkpoint = cn::checkpoint(training, checkpoint),
                        .on_epoch_end = [&](cn::epoch_report& report) {
                            if (report.epoch == 3) {
                                now = true;
                                fail_in_callback();
                                report.stop = fault == "early-stop";
                                if (fault == "evaluate") {
                                    training.evaluate(data);
                                }
                            }
                        }});
    auto const step = [&](std::size_t count, std::optional<double> rate) {
        training.step(data, first(count), rate);
    };
    step(fault == "step-samples" ? 7 : 8, fault == "step-rate" ? std::optional{0.5} : std::nullopt);
    if (fault == "step-call") {
        training.evaluate(data);
    }
    step(8, {});
    double sum = 0;
    for (float w : everything(model)) {
        sum += double(w);
    }
    if (training.rank() == 0) {
        std::printf("sum %a after %d epochs\n", sum, int(training.epochs()));
    }
    return 0;
}

template <std::size_t Batch>
int run_on(std::string const& replicas, char const* checkpoint) {
    using cpu = cn::policy::cpu;
    if (replicas == "threads") {
        return run<cn::policy::distributed<cn::policy::mirrored<cpu, 2>>, Batch>(checkpoint);
    }
    if (replicas == "sharded") {
        return run<cn::policy::distributed<cpu, cn::strategy::sharded_optimizer>, Batch>(
            checkpoint);
    }
    return run<cn::policy::distributed<cpu>, Batch>(checkpoint);
}

} // namespace

int main(int count, char** arguments) {
    std::string const asked = arguments[1], replicas = count > 3 ? arguments[3] : "alone";
    if (asked == "own-mpi" || asked == "finalized") {
        MPI_Init(nullptr, nullptr);
    }
    if (asked == "finalized") {
        MPI_Finalize();
    }
    fault = cn::comm::mpi{}.rank() == 1 ? asked : "none";
    if (fault == "program") { // its plan has another batch
        return run<cn::policy::distributed<cn::policy::cpu>, 16>(arguments[2]);
    }
    if (asked == "caught") {
        try {
            return run_on<8>(replicas, arguments[2]);
        } catch (std::exception const& e) {
            std::fprintf(stderr, "caught: %s\n", e.what());
            return 1;
        }
    }
    int const status = run_on<8>(replicas, arguments[2]);
    if (asked == "own-mpi") {
        MPI_Finalize();
    }
    return status;
}
