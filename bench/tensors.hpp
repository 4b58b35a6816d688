// Registration of benchmarks of tensors, for the same work in several libraries.
#pragma once

#include <benchmark/benchmark.h>
#include <string>

namespace bench {

// Lets the compiler assume that others read and write these.
template <class... X>
void share(X&... x) {
    (..., benchmark::DoNotOptimize(x.data()));
}

template <class F>
void repeat(benchmark::State& state, F const& f) {
    for ([[maybe_unused]] auto _ : state) {
        f();
        benchmark::ClobberMemory();
    }
}

// f, repeated, as the benchmark name/size
template <class F>
void add(std::string const& name, std::string const& size, F const& f) {
    benchmark::RegisterBenchmark((name + "/" + size).c_str(),
                                 [f](benchmark::State& state) { repeat(state, f); });
}

} // namespace bench
