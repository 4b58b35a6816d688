// Single operations of oneDNN on one thread, with the names and sizes of bench_kernels: each in the
// layouts that oneDNN prefers for it, without the time to get there.
#include "../operations.hpp"
#include "onednn.hpp"
#include "peer.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace {

using namespace bench;
using onednn::any_layout, onednn::floats, onednn::layout, onednn::memory;

dnnl::engine& engine() {
    static dnnl::engine cpu{dnnl::engine::kind::cpu, 0};
    return cpu;
}

// Some numbers in memory of this layout.
memory room_for(layout const& wanted) {
    memory const room{wanted, engine()};
    std::ranges::fill(floats(room), 0.5F);
    return room;
}

void run(benchmark::State& state, dnnl::primitive const& primitive,
         std::unordered_map<int, layout> const& layouts) {
    use_threads(1);
    dnnl::stream stream{engine()};
    std::unordered_map<int, memory> arguments;
    for (auto const& [argument, wanted] : layouts) {
        arguments.emplace(argument, room_for(wanted));
    }
    for ([[maybe_unused]] auto _ : state) {
        primitive.execute(stream, arguments);
        stream.wait();
    }
}

template <class Op>
void add(std::string const& kind, std::string const& layer, Op const& op, memory::dims const& input,
         memory::dims const& weights, memory::dims const& output) {
    layout const x = any_layout(input), w = any_layout(weights), y = any_layout(output);
    layout const no_bias;
    auto const benchmark = [&](char const* role, auto const& primitive,
                               std::unordered_map<int, layout> const& layouts) {
        benchmark::RegisterBenchmark((kind + role + "/" + layer).c_str(), run, primitive, layouts);
    };
    typename Op::forward::primitive_desc const forward{op.output(x, w, no_bias, y), engine()};
    benchmark("", typename Op::forward{forward},
              {{DNNL_ARG_SRC, forward.src_desc()},
               {DNNL_ARG_WEIGHTS, forward.weights_desc()},
               {DNNL_ARG_DST, forward.dst_desc()}});
    typename Op::backward_data::primitive_desc const data{op.data(x, w, y), engine(), forward};
    benchmark("_data", typename Op::backward_data{data},
              {{DNNL_ARG_DIFF_SRC, data.diff_src_desc()},
               {DNNL_ARG_WEIGHTS, data.weights_desc()},
               {DNNL_ARG_DIFF_DST, data.diff_dst_desc()}});
    typename Op::backward_weights::primitive_desc const weight{op.weights(x, w, no_bias, y),
                                                               engine(), forward};
    benchmark("_weight", typename Op::backward_weights{weight},
              {{DNNL_ARG_SRC, weight.src_desc()},
               {DNNL_ARG_DIFF_WEIGHTS, weight.diff_weights_desc()},
               {DNNL_ARG_DIFF_DST, weight.diff_dst_desc()}});
}

[[maybe_unused]] bool const registered = [] {
    for (dense const& d : dense_layers) {
        add("matmul", d.name, onednn::inner_product{}, {dense::samples, d.features},
            {d.units, d.features}, {dense::samples, d.units});
    }
    for (convolution const& c : convolutions) {
        add("conv", c.name, onednn::convolution{{c.pad, c.pad}},
            {convolution::samples, c.channels, c.size, c.size}, {c.filters, c.channels, 3, 3},
            {convolution::samples, c.filters, c.out(), c.out()});
    }
    return true;
}();

} // namespace
