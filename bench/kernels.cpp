// Single operations of the benchmarked networks on one thread, beside what one core can do at most.
#include "networks.hpp"
#include "operations.hpp"
#include "peak.hpp"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <string>

namespace {

namespace cn = castnet;
namespace cpu = castnet::cpu;

cpu::memory room_for(std::ptrdiff_t count) {
    cpu::memory room{size_t(count) * sizeof(float)};
    std::fill_n(room.as<float>(), count, 0.5F);
    return room;
}

void peak(benchmark::State& state) {
    bench::use_threads(1);
    constexpr int rounds = 100'000;
    double flops = 0;
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        flops = cpu::multiply_add_registers<float>(rounds);
    }
    clock.report(state, flops);
}
BENCHMARK(peak);

// c (m x n) = a (m x k) b (k x n). A gradient has a turned factor: that by the input a weight,
// which lies as (n x k), and that by the weight samples, which lie as (k x m).
enum class turned { none, a, b };
void product(benchmark::State& state, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
             turned which) {
    bench::use_threads(1);
    cpu::memory const a = room_for(m * k), b = room_for(k * n), c = room_for(m * n);
    auto const factor = [](cpu::memory const& at, std::ptrdiff_t rows, std::ptrdiff_t columns,
                           bool lies_turned) -> cpu::matrix<float> {
        return {at.as<float>(), lies_turned ? 1 : columns, lies_turned ? rows : 1};
    };
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        cpu::multiply<float>(m, n, k, factor(a, m, k, which == turned::a),
                             factor(b, k, n, which == turned::b), c.as<float>(), n);
        benchmark::ClobberMemory();
    }
    clock.report(state, 2.0 * double(m) * double(n) * double(k));
}

// A step of two operands: image and weight, gradient and weight, or image and gradient.
struct role {
    char const* name;
    cn::op kind;
};
constexpr role roles[] = {
    {"conv", cn::op::conv}, {"conv_data", cn::op::conv_data}, {"conv_weight", cn::op::conv_weight}};

cn::ir::window window_of(bench::convolution const& c) {
    int const out = c.out();
    return {.channels = c.channels,
            .height = c.size,
            .width = c.size,
            .filters = c.filters,
            .out_height = out,
            .out_width = out,
            .kernel_h = c.kernel,
            .kernel_w = c.kernel,
            .stride_h = c.stride,
            .stride_w = c.stride,
            .pad_top = c.pad,
            .pad_left = c.pad,
            .pad_bottom = c.pad,
            .pad_right = c.pad,
            .groups = c.groups};
}

void convolve(benchmark::State& state, bench::convolution const& c, role const& r) {
    using device = cn::cpu_device<float>;
    bench::use_threads(1);
    constexpr std::ptrdiff_t samples = bench::convolution::samples;
    cn::ir::window const w = window_of(c);
    cn::ir::extents const image{true, w.height * w.width, w.channels};
    cn::ir::extents const result{true, w.out_height * w.out_width, w.filters};
    cn::ir::extents const weight{false, 1, int(cpu::weight_count(w))};

    // operands, result, scratch memory for all and for each chunk, and the weight in another form,
    // one after another in one region
    cn::ir::kernel_launch step;
    step.kind = r.kind;
    step.arrays = 2;
    step.output = 2;
    step.scratch = 3;
    step.sums = 4;
    step.chunk_scratch = 5;
    step.prepared = 6;
    step.window = 0;
    cn::ir::scratch_size const scratch = device::scratch(step, &w, {});
    std::ptrdiff_t const sums = cn::ir::aligned(scratch.sums);
    std::ptrdiff_t const chunk = sums + cn::ir::aligned(scratch.chunk) + cn::ir::cpu_alignment;
    cn::ir::extents const sizes[] = {r.kind == cn::op::conv_data ? result : image,
                                     r.kind == cn::op::conv_weight ? result : weight,
                                     r.kind == cn::op::conv        ? result
                                     : r.kind == cn::op::conv_data ? image
                                                                   : weight};
    cn::ir::array_ref arrays[7];
    std::ptrdiff_t total = 0;
    for (int i = 0; i < 3; ++i) {
        arrays[i] = {cn::ir::region::workspace, total, sizes[i]};
        total += cn::ir::aligned(sizes[i].count() * (sizes[i].sample ? samples : 1));
    }
    arrays[3] = {cn::ir::region::workspace, total, {false, 1, 1}};
    total += cn::ir::aligned(scratch.shared);
    arrays[4] = {cn::ir::region::workspace, total, {false, 1, 1}, chunk};
    arrays[5] = {cn::ir::region::workspace, total + sums, {false, 1, 1}, chunk};
    total += cpu::chunks * chunk;
    arrays[6] = {cn::ir::region::workspace, total, {false, 1, 1}};
    cpu::memory const room = room_for(total + cn::ir::aligned(scratch.prepared));

    cpu::tables const tables{arrays, nullptr, &w};
    cpu::context<float> context;
    context.region[int(cn::ir::region::workspace)] = room.as<float>();
    context.samples = samples;
    std::ptrdiff_t elements = 0; // of a sample, as a plan counts them
    for (cn::ir::extents const& size : sizes) {
        elements += size.sample ? size.count() : 0;
    }
    cn::ir::stage const alone{0, 1, device::samples_at_once(step, &w, {}, elements), 1};
    auto const parts = device::kernel_of(step, &w);
    auto const kernel = alone.samples_at_once > 0 ? parts.in_chunks() : parts.alone();
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        cpu::run_stage(alone, &step, &kernel, tables, context, cn::ir::ignore_launches{});
        benchmark::ClobberMemory();
    }
    clock.report(state, cpu::conv_work(w, samples));
}

bool const registered = [] {
    using benchmark::RegisterBenchmark;
    RegisterBenchmark("product/1024x1024x1024", product, 1024, 1024, 1024, turned::none);
    for (bench::dense const& d : bench::dense_layers) {
        auto const add = [&](char const* kind, auto... sizes) {
            RegisterBenchmark((std::string(kind) + "/" + d.name).c_str(), product, sizes...);
        };
        add("matmul", d.samples, d.units, d.features, turned::none);
        add("matmul_data", d.samples, d.features, d.units, turned::b);
        add("matmul_weight", d.features, d.units, d.samples, turned::a);
    }
    auto const add_each_role = [](bench::convolution const& c) {
        for (role const& r : roles) {
            RegisterBenchmark((std::string(r.name) + "/" + c.name).c_str(), convolve, c, r);
        }
    };
    std::ranges::for_each(bench::convolutions, add_each_role);
    std::ranges::for_each(bench::grouped_convolutions, add_each_role);
    return true;
}();

} // namespace
