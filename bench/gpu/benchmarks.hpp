// Training steps on a GPU, each under a name and with several policies. The program bench_gpu
// measures those that it is asked for, one after another, so that a script can let it and other
// libraries take turns.
#pragma once

#include <castnet/cuda.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/vgg.hpp>

#include "../networks.hpp"
#include "limits.hpp"

#include <algorithm>
#include <chrono>
#include <cuda_profiler_api.h>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct measurement {
    double seconds = 0; // of one step
    std::size_t samples = 0;
    double flops = 0;      // of one step
    double floor = 0;      // seconds that no step of this plan is faster than (cn::cuda_floor)
    std::size_t bytes = 0; // planned for parameters and training
    std::size_t taken = 0; // of the GPU's memory, but for the data
};

// A training that is ready to be measured again: its model, its data, and its captured steps stay.
class benchmark {
public:
    virtual ~benchmark() = default;
    // For about so many seconds.
    virtual measurement measure(double seconds) = 0;
    // One step, of which a profiler that waits for cudaProfilerStart() sees every kernel: the first
    // one is no graph.
    virtual void profile_step() = 0;
};

// Makers of benchmarks by name and policy.
inline std::map<std::pair<std::string, std::string>, std::unique_ptr<benchmark> (*)()>&
benchmarks() {
    static std::map<std::pair<std::string, std::string>, std::unique_ptr<benchmark> (*)()> all;
    return all;
}

// The same for all who train with as many.
template <class Dataset, size_t Samples>
Dataset const& samples() {
    static Dataset const all = random_samples<Dataset>(Samples);
    return all;
}

// Whole epochs of Batches steps, with everything that a program would do: shuffle, gather (from
// samples in the GPU's memory), train, sum up the loss.
template <class What, class Policy, size_t Batch, size_t Batches>
class kept_training final : public benchmark {
public:
    measurement measure(double seconds) override {
        if (taken_ == 0) {
            epochs(1); // captures, and fills caches
            taken_ = free_before_ - free_bytes() - data_bytes;
        }
        int const count = std::max(1, static_cast<int>(seconds / epochs(1)));
        return {epochs(count) / count / double(Batches),
                Batch,
                double(training_.training_plan().flops()) * double(Batch),
                cn::cuda_floor(training_, gpu_ceilings::of(Policy::precision)),
                training_.bytes,
                taken_};
    }
    void profile_step() override {
        std::vector<size_t> order(Batch);
        std::iota(order.begin(), order.end(), size_t{0});
        cudaProfilerStart();
        training_.step(data_, order);
        cudaProfilerStop();
    }

private:
    using dataset = typename What::dataset;
    using model = cn::model<typename What::network, Policy, cn::batch<Batch>>;

    double epochs(int count) {
        using clock = std::chrono::steady_clock;
        auto const start = clock::now();
        training_.fit(data_, {.epochs = count, .verbose = cn::verbosity::silent});
        return std::chrono::duration<double>(clock::now() - start).count();
    }

    static std::size_t free_bytes() {
        std::size_t free = 0, all = 0;
        CASTNET_CUDA(cudaMemGetInfo(&free, &all));
        return free;
    }
    static constexpr std::size_t data_bytes =
        Batch * Batches * sizeof(float) *
        (dataset::template input_shape<0>::count + dataset::template target_shape<0>::count);

    std::size_t free_before_ = free_bytes();
    decltype(cn::on_device(samples<dataset, Batch * Batches>())) data_ =
        cn::on_device(samples<dataset, Batch * Batches>());
    model model_{cn::seed{42}};
    decltype(cn::compile(std::declval<model&>(), What::loss, cn::adam{})) training_ =
        cn::compile(model_, What::loss, cn::adam{});
    std::size_t taken_ = 0;
};

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
        add<kept_training<tiny_mlp, Policy, 128, 256>>("tiny_mlp/128", policy);
        add<kept_training<wide_mlp, Policy, 128, 64>>("wide_mlp/128", policy);
        add<kept_training<convnet, Policy, 128, 64>>("convnet/128", policy);
        add<kept_training<convnet, Policy, 512, 64>>("convnet/512", policy);
        add<kept_training<dropout_cnn, Policy, 128, 64>>("dropout_cnn/128", policy);
        add<kept_training<lstm, Policy, 128, 16>>("lstm/128", policy);
        add<kept_training<gpt, Policy, 32, 4>>("gpt/32", policy);
        add<kept_training<imagenet<cn::zoo::vgg16>, Policy, 64, 4>>("vgg16/64", policy);
        add<kept_training<imagenet<cn::zoo::resnet50>, Policy, 128, 4>>("resnet50/128", policy);
        add<kept_training<imagenet<cn::zoo::resnet50>, Policy, 256, 4>>("resnet50/256", policy);
    }

private:
    template <class Training>
    static void add(std::string const& name, std::string const& policy) {
        benchmarks()[{name, policy}] = []() -> std::unique_ptr<benchmark> {
            return std::make_unique<Training>();
        };
    }
};

} // namespace bench
