// Training steps with Adam, each with its batch gathered from shuffled samples in memory.
// Names are those of bench/peers: network/batch:…/threads:….
#include "networks.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace bench;

struct plain_adam {
    static auto make() { return cn::adam{}; }
};
struct clipped_adam {
    static auto make() { return cn::clip_norm(cn::adam{}, 1); }
};

template <class What, size_t Batch, class Optimizer = plain_adam>
void train(benchmark::State& state) {
    use_threads(int(state.range(0)));
    size_t constexpr batches = 8;
    auto const data = random_samples<typename What::dataset>(batches * Batch);
    cn::model<typename What::network, cn::policy::cpu, cn::batch<Batch>> model{cn::seed{42}};
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
    double const flops = double(training.training_plan.flops());
    state.SetItemsProcessed(samples);
    state.counters["peak_MB"] = peak_megabytes();
    state.counters["FLOP/s"] = {double(samples) * flops, benchmark::Counter::kIsRate};
}

void settings(benchmark::internal::Benchmark* b) {
    b->ArgName("threads")
        ->DenseRange(1, most_threads)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
}

BENCHMARK(train<convnet, 32>)->Name("convnet/batch:32")->Apply(settings);
BENCHMARK(train<convnet, 128>)->Name("convnet/batch:128")->Apply(settings);
BENCHMARK(train<convnet, 512>)->Name("convnet/batch:512")->Apply(settings);
BENCHMARK(train<dropout_cnn, 128>)->Name("dropout_cnn/batch:128")->Apply(settings);
BENCHMARK(train<vgg16_convolutions, 8>)->Name("vgg16_convolutions/batch:8")->Apply(settings);
BENCHMARK(train<mobilenetv2, 8>)->Name("mobilenetv2/batch:8")->Apply(settings);
BENCHMARK(train<efficientnet_b0, 8>)->Name("efficientnet_b0/batch:8")->Apply(settings);
BENCHMARK(train<densenet121, 8>)->Name("densenet121/batch:8")->Apply(settings);
BENCHMARK(train<wide_unet, 4>)->Name("wide_unet/batch:4")->Apply(settings);
BENCHMARK(train<wide_mlp, 128>)->Name("wide_mlp/batch:128")->Apply(settings);
BENCHMARK(train<wide_mlp, 128, clipped_adam>)->Name("wide_mlp_clipped/batch:128")->Apply(settings);
BENCHMARK(train<lstm, 32>)->Name("lstm/batch:32")->Apply(settings);
BENCHMARK(train<gru, 32>)->Name("gru/batch:32")->Apply(settings);
BENCHMARK(train<bidirectional_lstm, 32>)->Name("bidirectional_lstm/batch:32")->Apply(settings);
BENCHMARK(train<two_sequences, 32>)->Name("two_sequences/batch:32")->Apply(settings);
BENCHMARK(train<gpt, 8>)->Name("gpt/batch:8")->Apply(settings);
BENCHMARK(train<tiny_mlp, 128>)->Name("tiny_mlp/batch:128")->Apply(settings);

} // namespace
