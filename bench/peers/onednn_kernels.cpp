// Single operations of oneDNN on one thread, with the names and sizes of bench_kernels: each in the
// layouts that oneDNN prefers for it, without the time to get there. Or, where the environment has
// BENCH_LAYOUTS=castnet, as a step of castnet could call it: operands and results lie as castnet's,
// and what oneDNN reorders is part of the time. Activations lie as castnet's or as oneDNN prefers
// then, whichever is faster.
#include "../operations.hpp"
#include "onednn.hpp"
#include "peer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
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

using arguments = std::unordered_map<int, memory>;
struct call {
    dnnl::primitive primitive;
    arguments with;
};
using calls = std::vector<call>;

void execute(calls const& all) {
    static dnnl::stream stream{engine()};
    for (call const& c : all) {
        c.primitive.execute(stream, c.with);
    }
    stream.wait();
}

// An argument: the layout that the primitive wants, and that of castnet.
struct argument {
    int name;
    layout wanted, castnet;
    bool is_result = false;
};

// The primitive alone, or with the reorders between castnet's layouts and those that it wants.
calls calls_of(dnnl::primitive const& primitive, std::vector<argument> const& all, bool reorders) {
    calls before, after;
    arguments with;
    for (argument const& a : all) {
        memory const there = room_for(a.wanted);
        with.emplace(a.name, there);
        if (reorders && a.wanted != a.castnet) {
            memory const here = room_for(a.castnet);
            memory const &from = a.is_result ? there : here, &to = a.is_result ? here : there;
            (a.is_result ? after : before)
                .push_back({dnnl::reorder{from, to}, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
        }
    }
    before.push_back({primitive, with});
    before.insert(before.end(), after.begin(), after.end());
    return before;
}

double seconds_of(calls const& all) {
    double best = 1e300;
    for (int i = 0; i < 5; ++i) {
        auto const start = std::chrono::steady_clock::now();
        execute(all);
        std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

bool in_castnets_layouts() {
    char const* const wanted = std::getenv("BENCH_LAYOUTS");
    return wanted != nullptr && std::string{wanted} == "castnet";
}

// make(whether activations lie as castnet's) gives the calls of an operation.
using make_calls = std::function<calls(bool)>;

void run(benchmark::State& state, make_calls const& make) {
    calls chosen = make(false);
    if (in_castnets_layouts()) {
        calls other = make(true);
        if (seconds_of(other) < seconds_of(chosen)) {
            chosen = std::move(other);
        }
    }
    for ([[maybe_unused]] auto _ : state) {
        execute(chosen);
    }
}

// castnet's layout of weights in groups, (group, filter, channel, height, width).
layout filters_side_by_side(memory::dims const& shape) {
    memory::dim const filters = shape[0] * shape[1], tap = shape[2] * filters;
    return {shape, memory::data_type::f32, {shape[1], 1, filters, shape[4] * tap, tap}};
}

template <class Op>
void add(std::string const& kind, std::string const& layer, Op const& op, memory::dims const& input,
         memory::dims const& weights, memory::dims const& output) {
    bool const image = input.size() == 4;
    auto const castnet = [&](memory::dims const& shape, memory::format_tag tag) {
        return layout{shape, memory::data_type::f32, tag};
    };
    using tag = memory::format_tag;
    layout const x = castnet(input, image ? tag::nhwc : tag::nc);
    layout const y = castnet(output, image ? tag::nhwc : tag::nc);
    layout const w = weights.size() == 5 ? filters_side_by_side(weights)
                                         : castnet(weights, image ? tag::hwio : tag::io);
    auto const benchmark = [&](char const* role, make_calls const& make) {
        benchmark::RegisterBenchmark((kind + role + "/" + layer).c_str(), run, make);
    };
    auto const forward_of = [=](bool here) {
        return typename Op::forward::primitive_desc{op.output(here ? x : any_layout(input),
                                                              any_layout(weights), layout{},
                                                              here ? y : any_layout(output)),
                                                    engine()};
    };
    benchmark("", [=](bool here) {
        auto const p = forward_of(here);
        return calls_of(typename Op::forward{p},
                        {{DNNL_ARG_SRC, p.src_desc(), x},
                         {DNNL_ARG_WEIGHTS, p.weights_desc(), w},
                         {DNNL_ARG_DST, p.dst_desc(), y, true}},
                        in_castnets_layouts());
    });
    benchmark("_data", [=](bool here) {
        typename Op::backward_data::primitive_desc const p{op.data(here ? x : any_layout(input),
                                                                   any_layout(weights),
                                                                   here ? y : any_layout(output)),
                                                           engine(), forward_of(here)};
        return calls_of(typename Op::backward_data{p},
                        {{DNNL_ARG_DIFF_SRC, p.diff_src_desc(), x, true},
                         {DNNL_ARG_WEIGHTS, p.weights_desc(), w},
                         {DNNL_ARG_DIFF_DST, p.diff_dst_desc(), y}},
                        in_castnets_layouts());
    });
    benchmark("_weight", [=](bool here) {
        typename Op::backward_weights::primitive_desc const p{
            op.weights(here ? x : any_layout(input), any_layout(weights), layout{},
                       here ? y : any_layout(output)),
            engine(), forward_of(here)};
        return calls_of(typename Op::backward_weights{p},
                        {{DNNL_ARG_SRC, p.src_desc(), x},
                         {DNNL_ARG_DIFF_WEIGHTS, p.diff_weights_desc(), w, true},
                         {DNNL_ARG_DIFF_DST, p.diff_dst_desc(), y}},
                        in_castnets_layouts());
    });
}

[[maybe_unused]] bool const registered = [] {
    use_threads(1); // oneDNN decides how it shares the work when it makes a primitive
    for (dense const& d : dense_layers) {
        add("matmul", d.name, onednn::inner_product{}, {d.samples, d.features},
            {d.units, d.features}, {d.samples, d.units});
    }
    auto const add_convolution = [](convolution const& c) {
        memory::dims weights{c.filters / c.groups, c.channels / c.groups, c.kernel, c.kernel};
        if (c.groups > 1) {
            weights.insert(weights.begin(), c.groups);
        }
        add("conv", c.name, onednn::convolution{{c.pad, c.pad}, {c.stride, c.stride}},
            {convolution::samples, c.channels, c.size, c.size}, weights,
            {convolution::samples, c.filters, c.out(), c.out()});
    };
    std::ranges::for_each(convolutions, add_convolution);
    std::ranges::for_each(grouped_convolutions, add_convolution);
    return true;
}();

} // namespace
