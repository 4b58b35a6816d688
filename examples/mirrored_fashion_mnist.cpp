// Trains the quickstart's network on several replicas in one process: a step of N replicas with
// batch<B> is a step of one replica with batch<N * B>, shared by N threads, or by all GPUs if nvcc
// compiles this (mirrored_fashion_mnist.cu).
//
//   mirrored_fashion_mnist [FOLDER OF THE DATA]
#include <castnet/castnet.hpp>
#ifdef __CUDACC__
#include <castnet/cuda.hpp>
#include <castnet/nccl.hpp>
#endif
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/communication_report.hpp>

#include <cstdio>

namespace cn = castnet;

using zalando = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, cn::conv2d<64, 3>,
                               cn::relu, cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;

// Nothing else in the program depends on the number of replicas.
#ifdef __CUDACC__
using where = cn::policy::mirrored<cn::policy::cuda>; // all GPUs that the program sees
#else
using where = cn::policy::mirrored<cn::policy::cpu, 2>;
#endif

int main(int count, char** arguments) try {
    auto const data =
        cn::data::fashion_mnist(count > 1 ? arguments[1] : "/usr/share/datasets/fashion-mnist");

    cn::model<zalando, where, cn::batch<64>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);

    using report = cn::communication_report<decltype(training)>;
    std::printf("%d replicas, %zu samples a step, %d collectives of %zu bytes together\n",
                training.replica_count(), training.step_capacity(), report::collectives,
                report::bytes);

    training.fit(data.train,
                 {.epochs = 2, .schedule = cn::one_cycle(4e-3), .validation = data.test});
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
