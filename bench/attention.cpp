// Attention of six heads of 64 features in sequences of different lengths, causal: as one operation
// and with the weights of all pairs stored; its result alone, and with the gradients with respect
// to all inputs.
#include "networks.hpp"
#include "peak.hpp"

#include <benchmark/benchmark.h>
#include <string>

namespace {

namespace cn = castnet;

constexpr size_t batch = 2, heads = 6, features = 384;

// A mask that attention does not know, so that it stores the weights.
struct sees_all {
    constexpr auto operator()(auto scores) const { return scores; }
};
template <bool Stored>
struct attend {
    constexpr auto operator()(auto q, auto k, auto v) const {
        if constexpr (Stored) {
            return cn::attention<heads>(q, k, v, cn::causal_mask, sees_all{});
        } else {
            return cn::attention<heads>(q, k, v, cn::causal_mask);
        }
    }
};

// The result, or the gradients with respect to the inputs, with a target for the gradient of the
// result.
template <bool Gradients>
struct recipe {
    template <class Network>
    static constexpr cn::ir::results build(cn::ir::graph& g) {
        auto const y = Network::trace(g);
        cn::ir::results r;
        if constexpr (Gradients) {
            using shape = cn::detail::nth_of<0, typename decltype(y)::shapes>;
            cn::ir::differentiation d{g, true};
            auto const dy = cn::emit<shape>(g, cn::ir::graph::shaped<shape>(cn::op::target, true));
            r.gradients = d.run(y.ids[0], dy.id);
            for (int const input : {0, 1, 2}) {
                r.outputs.push(d.by(input));
            }
        } else {
            r.outputs.push(y.ids[0]);
        }
        return r;
    }
};

template <size_t Time, bool Stored, bool Gradients>
void attention(benchmark::State& state) {
    using network = cn::network<attend<Stored>{}, cn::input<Time, features>,
                                cn::input<Time, features>, cn::input<Time, features>>;
    using device = cn::cpu_device<float>;
    constexpr auto const& plan =
        cn::detail::compiled_step<recipe<Gradients>, network, device, batch, Gradients>::value;
    bench::use_threads(int(state.range(0)));
    std::vector<cn::cpu::memory> memory;
    device::context c;
    for (int i = 0; i < 4; ++i) {
        memory.emplace_back(size_t(plan.size[i]) * sizeof(float));
        c.region[i] = memory.back().template as<float>();
        for (std::ptrdiff_t k = 0; k < plan.size[i]; ++k) {
            c.region[i][k] = float(k % 17) / 8 - 1;
        }
    }
    c.samples = batch;
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        device::run<plan>(c);
        benchmark::ClobberMemory();
    }
    clock.report(state, double(plan.flops() * std::ptrdiff_t(batch)));
    state.counters["workspace_MB"] =
        double(plan.size[int(cn::ir::region::workspace)]) * sizeof(float) / (1 << 20);
}

void settings(benchmark::internal::Benchmark* b) {
    b->ArgName("threads")
        ->DenseRange(1, bench::most_threads)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

template <size_t Time>
void add() {
    std::string const time = "/time:" + std::to_string(Time);
    settings(benchmark::RegisterBenchmark(("fused" + time).c_str(), attention<Time, false, false>));
    settings(benchmark::RegisterBenchmark(("fused_gradients" + time).c_str(),
                                          attention<Time, false, true>));
    settings(benchmark::RegisterBenchmark(("stored" + time).c_str(), attention<Time, true, false>));
    settings(benchmark::RegisterBenchmark(("stored_gradients" + time).c_str(),
                                          attention<Time, true, true>));
}

[[maybe_unused]] bool const added = [] {
    add<128>();
    add<256>();
    add<512>();
    add<1024>();
    add<2048>();
    add<4096>();
    return true;
}();

} // namespace
