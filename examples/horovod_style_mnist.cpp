// Trains on MNIST like Horovod's first example, in the processes of an MPI job:
//
//   mpirun -np 4 ./horovod_style_mnist FOLDER_OF_THE_DATA
#include <castnet/castnet.hpp>
#include <castnet/policy/distributed.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace cn = castnet;

using digits = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<32, 3>, cn::relu, cn::conv2d<64, 3>,
                              cn::relu, cn::max_pool2d<2>, cn::dropout<0.25>, cn::flatten,
                              cn::dense<128>, cn::relu, cn::dropout<0.5>, cn::dense<10>>;

using where = cn::policy::distributed<cn::policy::cpu>; // starts MPI; all processes share each step

int main(int count, char** arguments) try {
    auto const data =
        cn::data::mnist(count > 1 ? arguments[1] : "/usr/share/datasets/fashion-mnist");

    cn::model<digits, where, cn::batch<128>> model; // all ranks start with the weights of rank 0
    auto training = cn::compile(model, cn::cross_entropy, cn::adadelta{}, cn::accuracy);

    // The more replicas, the larger the batch: fewer epochs at a higher rate, after a warm-up.
    int const replicas = training.replica_count();
    double const rate = 1.0 * replicas;
    auto const steps =
        (data.train.size() + training.step_capacity() - 1) / training.step_capacity();

    char const* const checkpoint = "horovod_style_mnist.safetensors"; // written by rank 0
    if (std::filesystem::exists(checkpoint)) {
        cn::load(training, checkpoint);
    }
    training.fit(data.train, {.epochs = int(std::ceil(12.0 / replicas)),
                              .schedule = cn::warm_up(
                                  steps, [=](std::uint64_t, std::uint64_t) { return rate; }),
                              .validation = data.test,
                              .checkpoint = cn::checkpoint(training, checkpoint)});

    auto const test = training.evaluate(data.test);
    if (training.rank() == 0) {
        std::printf("test loss %.4f, accuracy %.4f\n", test.loss(), test["accuracy"]);
    }
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
