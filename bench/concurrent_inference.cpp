// How many samples are predicted in a second by threads that share a model.
#include "networks.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace bench;

// 10,000 samples in each thread, with the machine's threads shared by those that predict: on as
// many cores as threads, items_per_second should grow with them.
template <class What, size_t Batch>
void predict_all(benchmark::State& state) {
    constexpr size_t samples = 10'000;
    using shape = typename What::dataset::template input_shape<0>;
    static cn::model<typename What::network, cn::policy::cpu, cn::batch<Batch>> const model{
        cn::seed{42}};
    static auto const data = [] {
        std::vector<float> numbers(samples * shape::count);
        auto const random = random_samples<typename What::dataset>(samples);
        for (size_t i = 0; i < samples; ++i) {
            random.copy_input(i, numbers.data() + i * shape::count);
        }
        return numbers;
    }();
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(model.predict(data));
    }
    state.SetItemsProcessed(state.iterations() * std::int64_t{samples});
}

void threads(benchmark::internal::Benchmark* b) {
    b->UseRealTime()->Threads(1)->Threads(2);
}
BENCHMARK(predict_all<wide_mlp, 128>)->Name("wide_mlp/predict_all/batch:128")->Apply(threads);
BENCHMARK(predict_all<convnet, 1>)->Name("convnet/predict_all/batch:1")->Apply(threads);
BENCHMARK(predict_all<convnet, 128>)->Name("convnet/predict_all/batch:128")->Apply(threads);

} // namespace
