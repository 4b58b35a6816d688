// Benchmark of training steps with Adam, each with its batch gathered from shuffled samples in
// memory.
#pragma once

#include "networks.hpp"

#include <benchmark/benchmark.h>

namespace bench {

struct plain_adam {
    static auto make() { return cn::adam{}; }
};
struct clipped_adam {
    static auto make() { return cn::clip_norm(cn::adam{}, 1); }
};

template <class What, size_t Batch, class Optimizer = plain_adam, class Policy = cn::policy::cpu>
void train(benchmark::State& state) {
    use_threads(int(state.range(0)));
    size_t constexpr batches = 8;
    auto const data = random_samples<typename What::dataset>(batches * Batch);
    cn::model<typename What::network, Policy, cn::batch<Batch>> model{cn::seed{42}};
    auto training = cn::compile(model, What::loss, Optimizer::make());

    std::vector<size_t> order(data.size());
    cn::data::shuffle(order, 42, 0);
    auto const batch = [&](size_t i) {
        return std::span{order}.subspan(i % batches * Batch, Batch);
    };
    training.step(data, batch(0));
    size_t i = 0;
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(training.step(data, batch(++i)));
    }
    auto const samples = state.iterations() * std::int64_t(Batch);
    double const flops = double(training.training_plan().flops());
    state.SetItemsProcessed(samples);
    state.counters["peak_MB"] = peak_megabytes();
    state.counters["FLOP/s"] = {double(samples) * flops, benchmark::Counter::kIsRate};
}

inline void settings(benchmark::internal::Benchmark* b) {
    b->ArgName("threads")
        ->DenseRange(1, most_threads)
        ->MeasureProcessCPUTime()
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
}

} // namespace bench
