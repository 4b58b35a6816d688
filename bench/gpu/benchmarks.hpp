// Training steps on a GPU, each under a name. The program bench_gpu measures those that it is asked
// for, one after another, so that a script can let it and other libraries take turns.
#pragma once

#include "../networks.hpp"

#include <chrono>
#include <map>
#include <string>

namespace bench {

struct measurement {
    double seconds = 0; // of one step
    std::size_t samples = 0;
    double flops = 0;      // of one step
    std::size_t bytes = 0; // planned for parameters and training
};

// Measures for about so many seconds.
using benchmark = measurement (*)(double seconds);

inline std::map<std::string, benchmark>& benchmarks() {
    static std::map<std::string, benchmark> all;
    return all;
}

// Whole epochs of Batches steps, with everything that a program would do: shuffle, gather, train,
// sum up the loss.
template <class What, class Policy, size_t Batch, size_t Batches>
measurement train(double seconds) {
    using clock = std::chrono::steady_clock;
    static auto const data = random_samples<typename What::dataset>(Batch * Batches);
    static cn::model<typename What::network, Policy, cn::batch<Batch>> model{cn::seed{42}};
    static auto training = cn::compile(model, What::loss, cn::adam{});
    auto const epochs = [](int count) {
        auto const start = clock::now();
        training.fit(data, {.epochs = count, .verbose = cn::verbosity::silent});
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    epochs(1); // plans, captures, and fills caches
    double const one = epochs(1);
    int const count = std::max(1, static_cast<int>(seconds / one));
    return {epochs(count) / count / double(Batches), Batch,
            double(training.training_plan.flops()) * double(Batch), training.bytes};
}

struct add_benchmark {
    add_benchmark(std::string const& name, benchmark run) { benchmarks()[name] = run; }
};

} // namespace bench
