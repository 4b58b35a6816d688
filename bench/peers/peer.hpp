// What the peers in C++ share with each other: names and threads of their benchmarks, and the proof
// that what they time is training.
#pragma once

#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <omp.h>
#include <random>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace bench {

inline constexpr std::size_t batches = 8; // in memory

// OpenMP's threads, and those of an OpenBLAS that has its own.
inline void use_threads(int count) {
    omp_set_num_threads(count);
    static auto const set_blas_threads =
        reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
    if (set_blas_threads != nullptr) {
        set_blas_threads(count);
    }
}

// To be called once, before main; the report's context then says what was measured.
inline bool name_library(std::string const& name_and_version) {
    benchmark::AddCustomContext("library", name_and_version);
    return true;
}

inline std::vector<float> random_numbers(std::size_t count) {
    std::mt19937 generator{42};
    std::uniform_real_distribution<float> uniform;
    std::vector<float> numbers(count);
    for (float& x : numbers) {
        x = uniform(generator);
    }
    return numbers;
}

inline std::vector<int> random_labels(std::size_t count) {
    std::mt19937 generator{43};
    std::uniform_int_distribution<int> below_ten{0, 9};
    std::vector<int> labels(count);
    for (int& label : labels) {
        label = below_ten(generator);
    }
    return labels;
}

// Whether a few steps on the same batch lower the loss that each returns.
template <class Step>
bool lowers_loss(Step step) {
    double const first = step();
    for (int i = 0; i < 18; ++i) {
        step();
    }
    return step() < first;
}

inline char const* const not_training = "the loss does not fall";

inline void count_samples(benchmark::State& state, std::size_t batch) {
    state.SetItemsProcessed(state.iterations() * std::int64_t(batch));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage); // the most memory that this process has had
    state.counters["peak_MB"] = double(usage.ru_maxrss) / 1024;
}

inline void training_settings(benchmark::internal::Benchmark* b) {
    b->ArgName("threads")->DenseRange(1, 2)->MeasureProcessCPUTime()->UseRealTime()->Unit(
        benchmark::kMicrosecond);
}

} // namespace bench
