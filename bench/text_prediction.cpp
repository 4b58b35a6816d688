// Prediction of text by a transformer: one more character with the state of a stateful_predictor,
// a prompt in one pass and one character after another, and a whole text without a state.
#include "networks.hpp"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using namespace bench;
using model = cn::model<gpt::network, cn::policy::cpu, cn::batch<1>>;

constexpr size_t prompt_length = gpt::time / 2;

std::vector<std::int32_t> text() {
    std::vector<std::int32_t> ids(gpt::time);
    for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = std::int32_t(i * 7 % gpt::vocabulary);
    }
    return ids;
}

void one_character(benchmark::State& state) {
    model const m{cn::seed{42}};
    cn::stateful_predictor writer{m};
    auto const ids = text();
    size_t read = 0;
    for ([[maybe_unused]] auto _ : state) {
        if (read == ids.size()) {
            writer.reset();
            read = 0;
        }
        benchmark::DoNotOptimize(writer.predict(ids[read++]));
    }
}

void prompt_in_one_pass(benchmark::State& state) {
    model const m{cn::seed{42}};
    cn::stateful_predictor writer{m};
    auto const ids = text();
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(writer.prefill(std::span{ids}.first(prompt_length)));
    }
}

void prompt_by_characters(benchmark::State& state) {
    model const m{cn::seed{42}};
    cn::stateful_predictor writer{m};
    auto const ids = text();
    for ([[maybe_unused]] auto _ : state) {
        writer.reset();
        for (size_t i = 0; i < prompt_length; ++i) {
            benchmark::DoNotOptimize(writer.predict(ids[i]));
        }
    }
}

void whole_text(benchmark::State& state) {
    model const m{cn::seed{42}};
    cn::predictor predict_with{m};
    auto const ids = text();
    std::vector<float> y(gpt::time * gpt::vocabulary);
    for ([[maybe_unused]] auto _ : state) {
        predict_with.predict_one(ids.data(), y.data());
        benchmark::ClobberMemory();
    }
}

BENCHMARK(one_character)->Unit(benchmark::kMillisecond);
BENCHMARK(prompt_in_one_pass)->Unit(benchmark::kMillisecond);
BENCHMARK(prompt_by_characters)->Unit(benchmark::kMillisecond);
BENCHMARK(whole_text)->Unit(benchmark::kMillisecond);

} // namespace
