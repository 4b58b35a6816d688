// Trains with a checkpoint after every epoch; in the third epoch one process fails in the way that
// is asked for. Run again with "none" it goes on from the checkpoint.
//
//   test_mpi_fault FAULT CHECKPOINT   ("none" prints the weights' sum, to the last bit)
#include <castnet/policy/distributed.hpp>

#include "../replicas.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace replicas_test;

namespace {

template <std::size_t Batch>
int run(std::string const& fault, char const* checkpoint) {
    cn::model<network, cn::policy::distributed<cn::policy::cpu>, cn::batch<Batch>> model{
        cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    bool const faulty = training.rank() == 1;
    if (access(checkpoint, R_OK) == 0) {
        cn::load(training, checkpoint);
    }
    auto const data = samples(fault == "data" && faulty ? 40 : 43);
    training.fit(data, {.epochs = 5,
                        .verbose = cn::verbosity::silent,
                        .checkpoint = {.file = checkpoint},
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

int main(int, char** arguments) {
    std::string const fault = arguments[1];
    // another program: its plan has another batch
    return fault == "program" && cn::comm::mpi{}.rank() == 1 ? run<16>(fault, arguments[2])
                                                             : run<8>(fault, arguments[2]);
}
