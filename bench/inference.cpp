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
    model const m{cn::seed{42}};
    auto const data = random_samples<typename What::dataset>(1);

    typename device::memory const memory{model::prediction_bytes};
    typename device::context context;
    context.region[int(cn::region::parameters)] = m.data();
    context.region[int(cn::region::batch)] = memory.template as<float>();
    context.region[int(cn::region::workspace)] =
        memory.template as<float>(plan.elements(cn::region::batch));
    context.samples = 1;
    for ([[maybe_unused]] auto _ : state) {
        data.copy_input(0, context.at(plan.inputs[0])); // its single channel needs no reordering
        device::template run<plan>(context);
        benchmark::ClobberMemory();
    }
}

BENCHMARK(predict<tiny_mlp>)->Name("tiny_mlp/predict");
BENCHMARK(predict<convnet>)->Name("convnet/predict");

} // namespace
