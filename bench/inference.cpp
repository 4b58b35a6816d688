// Time to predict a single sample on one thread, in a model that was planned for one.
#include "networks.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace bench;

template <class What>
void predict(benchmark::State& state) {
    use_threads(1);
    using model = cn::model<typename What::network, cn::policy::cpu, cn::batch<1>>;
    using device = typename model::device;
    static constexpr auto const& plan = model::prediction_plan;
    model m{cn::seed{42}};
    auto const data = random_samples<typename What::dataset>(1);

    typename device::executor executor{m.session(), m.data(), cn::key_of(42),
                                       model::prediction_sizes};
    for ([[maybe_unused]] auto _ : state) {
        // its single channel needs no reordering
        data.copy_input(0, executor.batch() + plan.inputs[0].offset);
        executor.template run<plan>(1, 0);
        benchmark::ClobberMemory();
    }
}

BENCHMARK(predict<tiny_mlp>)->Name("tiny_mlp/predict");
BENCHMARK(predict<convnet>)->Name("convnet/predict");

} // namespace
