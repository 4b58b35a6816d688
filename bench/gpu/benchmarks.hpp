// Training steps on a GPU, each under a name and with several policies. The program bench_gpu
// measures those that it is asked for, one after another, so that a script can let it and other
// libraries take turns.
#pragma once

#include <castnet/cuda.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/vgg.hpp>

#include "../networks.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace bench {

struct measurement {
    double seconds = 0; // of one step
    std::size_t samples = 0;
    double flops = 0;      // of one step
    std::size_t bytes = 0; // planned for parameters and training
};

// Measures for about so many seconds.
using benchmark = measurement (*)(double seconds);

// By name and policy.
inline std::map<std::pair<std::string, std::string>, benchmark>& benchmarks() {
    static std::map<std::pair<std::string, std::string>, benchmark> all;
    return all;
}

// The same for all who train with as many.
template <class Dataset, size_t Samples>
Dataset const& samples() {
    static Dataset const all = random_samples<Dataset>(Samples);
    return all;
}

// Whole epochs of Batches steps, with everything that a program would do: shuffle, gather (from
// samples in the GPU's memory), train, sum up the loss. That memory is free again when it returns.
template <class What, class Policy, size_t Batch, size_t Batches>
measurement train(double seconds) {
    using clock = std::chrono::steady_clock;
    auto const data = cn::on_device(samples<typename What::dataset, Batch * Batches>());
    cn::model<typename What::network, Policy, cn::batch<Batch>> model{cn::seed{42}};
    auto training = cn::compile(model, What::loss, cn::adam{});
    auto const epochs = [&](int count) {
        auto const start = clock::now();
        training.fit(data, {.epochs = count, .verbose = cn::verbosity::silent});
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    epochs(1); // captures, and fills caches
    double const one = epochs(1);
    int const count = std::max(1, static_cast<int>(seconds / one));
    return {epochs(count) / count / double(Batches), Batch,
            double(training.training_plan.flops()) * double(Batch), training.bytes};
}

// For images of 224 x 224.
template <class Network>
struct imagenet {
    using network = Network;
    using dataset = cn::data::dataset<cn::data::label<1000>, cn::shape<3, 224, 224>>;
    static constexpr auto loss = cn::cross_entropy;
};

// Adds all benchmarks with a policy.
template <class Policy>
struct add_benchmarks {
    explicit add_benchmarks(std::string const& policy) {
        auto const add = [&](char const* name, benchmark run) {
            benchmarks()[{name, policy}] = run;
        };
        add("tiny_mlp/128", train<tiny_mlp, Policy, 128, 256>);
        add("wide_mlp/128", train<wide_mlp, Policy, 128, 64>);
        add("convnet/128", train<convnet, Policy, 128, 64>);
        add("convnet/512", train<convnet, Policy, 512, 64>);
        add("dropout_cnn/128", train<dropout_cnn, Policy, 128, 64>);
        add("vgg16/64", train<imagenet<cn::zoo::vgg16>, Policy, 64, 4>);
        add("resnet50/128", train<imagenet<cn::zoo::resnet50>, Policy, 128, 4>);
    }
};

} // namespace bench
