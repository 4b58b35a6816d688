// Single operations of the benchmarked networks on one thread, beside what one core can do at most.
#include "networks.hpp"
#include "peak.hpp"

#include <benchmark/benchmark.h>

namespace {

namespace cn = castnet;
namespace cpu = castnet::cpu;

cpu::memory room_for(std::ptrdiff_t count) {
    cpu::memory room{size_t(count) * sizeof(float)};
    std::fill_n(room.as<float>(), count, 0.5F);
    return room;
}

void peak(benchmark::State& state) {
    constexpr int rounds = 100'000;
    double flops = 0;
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        flops = bench::multiply_add(rounds);
    }
    clock.report(state, flops);
}
BENCHMARK(peak);

// c (m x n) = a (m x k) b (k x n); with `turned`, a lies as (k x m).
void product(benchmark::State& state, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
             bool turned) {
    bench::use_threads(1);
    cpu::memory const a = room_for(m * k), b = room_for(k * n), c = room_for(m * n);
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        cpu::multiply(m, n, k, a.as<float>(), turned ? 1 : k, turned ? m : 1, b.as<float>(),
                      c.as<float>());
        benchmark::ClobberMemory();
    }
    clock.report(state, 2.0 * double(m) * double(n) * double(k));
}

// The three products of a dense layer: its output, the gradient by its input, that by its weight.
struct dense {
    char const* name;
    std::ptrdiff_t features, units;
};
constexpr dense dense_layers[] = {{"convnet/1", 576, 64},   {"convnet/2", 64, 10},
                                  {"wide_mlp/1", 784, 512}, {"wide_mlp/2", 512, 512},
                                  {"wide_mlp/3", 512, 10},  {"tiny_mlp/1", 13, 16},
                                  {"tiny_mlp/2", 16, 32},   {"tiny_mlp/3", 32, 1}};

// A convolution without padding or with as much as keeps the size, stride 1.
struct convolution {
    char const* name;
    int channels, size, filters, pad;

    cn::window window() const {
        int const out = size + 2 * pad - 2;
        return {channels, size, size, filters, out, out, 3, 3, 1, 1, pad, pad, pad, pad};
    }
};
constexpr convolution convolutions[] = {{"convnet/1", 1, 28, 32, 0},
                                        {"convnet/2", 32, 13, 64, 0},
                                        {"convnet/3", 64, 5, 64, 0},
                                        {"vgg", 64, 56, 64, 1}};

using kernel = void (*)(cn::step const&, cpu::tables const&, cpu::context<float> const&);

// A step of two operands: image and weight, gradient and weight, or image and gradient.
struct role {
    char const* name;
    kernel run;
    std::ptrdiff_t (*scratch)(cn::window const&);
};
constexpr role roles[] = {{"conv", &cpu::conv<float>, &cpu::conv_scratch},
                          {"conv_data", &cpu::conv_data<float>, &cpu::conv_data_scratch},
                          {"conv_weight", &cpu::conv_weight<float>, &cpu::conv_weight_scratch}};

void convolve(benchmark::State& state, convolution const& c, role const& r) {
    bench::use_threads(1);
    constexpr std::ptrdiff_t samples = 32;
    cn::window const w = c.window();
    std::ptrdiff_t const image = samples * w.channels * w.height * w.width;
    std::ptrdiff_t const gradient = samples * w.filters * w.out_height * w.out_width;
    std::ptrdiff_t const sizes[] = {image, cpu::weight_count(w), gradient, r.scratch(w)};

    // the four arrays one after another in one region
    cn::array_ref places[4];
    std::ptrdiff_t total = 0;
    for (int i = 0; i < 4; ++i) {
        places[i] = {cn::region::workspace, total, {}};
        total += cn::cpu::aligned(sizes[i]);
    }
    cpu::memory const room = room_for(total);
    cn::array_ref const &x = places[0], &weight = places[1], &y = places[2];
    bool const by_data = r.run == &cpu::conv_data<float>;
    bool const by_weight = r.run == &cpu::conv_weight<float>;
    cn::array_ref const arrays[] = {by_data ? y : x, by_weight ? y : weight,
                                    by_data     ? x
                                    : by_weight ? weight
                                                : y,
                                    places[3]};
    cn::step step;
    step.arrays = 2;
    step.output = 2;
    step.scratch = 3;
    step.window = 0;
    cpu::tables const tables{arrays, nullptr, &w};
    cpu::context<float> context;
    context.region[int(cn::region::workspace)] = room.as<float>();
    context.samples = samples;
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        r.run(step, tables, context);
        benchmark::ClobberMemory();
    }
    clock.report(state, cpu::conv_work(w, samples));
}

bool const registered = [] {
    using benchmark::RegisterBenchmark;
    RegisterBenchmark("product/1024x1024x1024", product, 1024, 1024, 1024, false);
    for (dense const& d : dense_layers) {
        constexpr std::ptrdiff_t samples = 128;
        auto const add = [&](char const* kind, auto... sizes) {
            RegisterBenchmark((std::string(kind) + "/" + d.name).c_str(), product, sizes...);
        };
        add("matmul", samples, d.units, d.features, false);
        add("matmul_data", samples, d.features, d.units, false);
        add("matmul_weight", d.features, d.units, samples, true);
    }
    for (convolution const& c : convolutions) {
        for (role const& r : roles) {
            RegisterBenchmark((std::string(r.name) + "/" + c.name).c_str(), convolve, c, r);
        }
    }
    return true;
}();

} // namespace
