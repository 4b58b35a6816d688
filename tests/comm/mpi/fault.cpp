// Trains with a checkpoint after every epoch; in the third epoch one process fails in the way that
// is asked for. Run again with "none" it goes on from the checkpoint.
//
//   test_mpi_fault FAULT CHECKPOINT [threads | sharded]
//
// "none" prints the weights' sum, to the last bit. With "threads" every process has two replicas,
// with "sharded" a part of the optimizer's state.
#include <castnet/policy/distributed.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../replicas.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace replicas_test;

namespace {

template <class Policy, std::size_t Batch>
int run(std::string const& fault, char const* checkpoint) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    bool const faulty = cn::comm::mpi{}.rank() == 1;
    if (access(checkpoint, R_OK) == 0) {
        cn::load(training, checkpoint);
    }
    auto const data = samples(fault == "data" && faulty ? 40 : 43);
    training.fit(data, {.epochs = 5,
                        .verbose = cn::verbosity::silent,
                        .checkpoint = cn::checkpoint(training, checkpoint),
                        .on_epoch_end = [&](cn::epoch_report& report) {
                            if (report.epoch != 3 || !faulty) {
                                return;
                            }
                            if (fault == "exception") {
                                throw std::runtime_error("a replica failed on purpose");
                            } else if (fault == "exit") {
                                std::exit(3);
                            } else if (fault == "kill") {
                                std::raise(SIGKILL);
                            } else if (fault == "stop") {
                                std::raise(SIGSTOP);
                            }
                        }});
    double sum = 0;
    for (float w : everything(model)) {
        sum += double(w);
    }
    if (training.rank() == 0) {
        std::printf("sum %a after %d epochs\n", sum, int(training.epochs()));
    }
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    using cpu = cn::policy::cpu;
    std::string const fault = arguments[1];
    std::string const kind = count > 3 ? arguments[3] : "alone";
    if (kind == "threads") {
        using both = cn::policy::distributed<cn::policy::mirrored<cpu, 2>>;
        return run<both, 8>(fault, arguments[2]);
    }
    if (kind == "sharded") {
        using sharded = cn::policy::distributed<cpu, cn::strategy::sharded_optimizer>;
        return run<sharded, 8>(fault, arguments[2]);
    }
    using policy = cn::policy::distributed<cpu>;
    bool const other_program = fault == "program" && cn::comm::mpi{}.rank() == 1;
    return other_program ? run<policy, 16>(fault, arguments[2]) // its plan has another batch
                         : run<policy, 8>(fault, arguments[2]);
}
