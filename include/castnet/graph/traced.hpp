// A finished graph as a constant of fixed size. Tracing and planning are separate constant
// evaluations, each with the compiler's whole budget of steps; this is what passes between them.
#pragma once

#include <castnet/graph/graph.hpp>

namespace castnet::ir {

// Nodes of a step's results. `gradients` has one per parameter (-1: none) or is empty; `loss` and
// `seed`, the gradient it sends backwards, are there where differentiation is still to come.
// The last `carries` of the outputs are the last inputs of the next step.
struct results {
    list<int> outputs;
    list<int> gradients;
    int loss = -1, seed = -1;
    int carries = 0;
};

// Calls f(number) for the nodes whose values leave the graph: outputs, gradients, and what running
// statistics become. It may change the numbers.
template <class Graph, class Results, class F>
constexpr void for_each_result(Graph& g, Results& r, F const& f) {
    for (auto& id : r.outputs) {
        f(id);
    }
    for (auto& id : r.gradients) {
        if (id >= 0) {
            f(id);
        }
    }
    for (auto& u : g.updates) {
        f(u.value);
    }
}

// After a pass that has appended the nodes anew; `moved`: per old node the new one.
constexpr void renumber(graph& g, results& r, list<int> const& moved) {
    for_each_result(g, r, [&moved](int& id) { id = moved[id]; });
    for (parameter& p : g.parameters) {
        p.node = moved[p.node];
    }
}

// A graph as the planner sees it.
struct graph_view {
    node const* nodes;
    window const* windows;
    parameter const* parameters;
    graph::update const* updates;
    repeated_block const* repeats;
    int const* outputs;
    int const* gradients; // per parameter; all -1 where nothing is differentiated
    int node_count, window_count, parameter_count, update_count, repeat_count, output_count;
    bool differentiated;
    int carry_count = 0; // see results

    // Of the repeated block of this number, forward or backward.
    constexpr repeated_block const& repeat_at(int number) const {
        return repeats[number % repeat_count];
    }
};

// Calls f(number in graph_view::parameters, repetition) for every parameter of the network, in the
// order that they would have if nothing was repeated.
template <class F>
constexpr void for_each_parameter(graph_view const& g, F const& f) {
    for (int first = 0, last = 0; first < g.parameter_count; first = last) {
        int const block = g.parameters[first].repeat;
        do {
            ++last;
        } while (block >= 0 && last < g.parameter_count && g.parameters[last].repeat == block);
        int const repetitions = block < 0 ? 1 : g.repeat_at(block).count;
        for (int k = 0; k < repetitions; ++k) {
            for (int i = first; i < last; ++i) {
                f(i, k);
            }
        }
    }
}

// Of a graph that nothing is appended to meanwhile.
constexpr graph_view view_of(graph const& g, results const& r) {
    return {g.nodes.data(),      g.windows.data(),     g.parameters.data(),
            g.updates.data(),    g.repeats.data(),     r.outputs.data(),
            r.gradients.data(),  g.nodes.size(),       g.windows.size(),
            g.parameters.size(), g.updates.size(),     g.repeats.size(),
            r.outputs.size(),    !r.gradients.empty(), r.carries};
}

struct traced_sizes {
    int nodes = 0, windows = 0, parameters = 0, updates = 0, repeats = 0, outputs = 0;
    bool differentiated = false;
    int devices = 1; // one more than the last that on<…> named
    int loops = 0;   // over time, without those that go back
    mistake wrong{}; // of the network, or none

    constexpr bool fit(traced_sizes const& capacity) const {
        return nodes <= capacity.nodes && windows <= capacity.windows &&
               parameters <= capacity.parameters && updates <= capacity.updates &&
               repeats <= capacity.repeats && outputs <= capacity.outputs;
    }
    // Room that is enough.
    constexpr traced_sizes room(traced_sizes const& usual) const {
        return fit(usual) ? usual : *this;
    }
};

// Room that is not used costs compilers next to nothing, a second trace as much as the first. But
// nvcc keeps some 300 bytes for each number of a constant, used or not: there a pass counts first.
#ifdef __CUDACC__
inline constexpr bool counts_first = true;
#else
inline constexpr bool counts_first = false;
#endif

// Enough for DenseNet-121, before differentiation.
inline constexpr traced_sizes usual_trace =
    counts_first ? traced_sizes{} : traced_sizes{2400, 128, 640, 256, 4, 8};

// Enough for most graphs after differentiation: of the 1435 nodes of ResNet-50's training step 1040
// are there before, of the 64 of a small network's 36.
constexpr traced_sizes usual_differentiated(traced_sizes const& forward) {
    if (counts_first) {
        return {};
    }
    return {2 * forward.nodes + 32, forward.windows, forward.parameters,
            forward.updates,        forward.repeats, forward.outputs};
}

constexpr traced_sizes sizes_of(graph const& g, results const& r) {
    return {g.nodes.size(),   g.windows.size(), g.parameters.size(),  g.updates.size(),
            g.repeats.size(), r.outputs.size(), !r.gradients.empty(), g.devices,
            g.loops,          g.wrong};
}

constexpr size_t array_size(int count) { // arrays of length 0 are not C++
    return count > 0 ? size_t(count) : 1;
}

template <class T>
constexpr void copy_array(T* to, T const* from, int count) {
    for (int i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}
template <class T>
constexpr void copy_list(T* to, list<T> const& from) {
    copy_array(to, from.data(), from.size());
}

// Where Capacity is not enough, nothing but the sizes is kept.
template <traced_sizes Capacity>
struct traced_graph {
    traced_sizes sizes;
    node nodes[castnet::ir::array_size(Capacity.nodes)]{};
    window windows[castnet::ir::array_size(Capacity.windows)]{};
    parameter parameters[castnet::ir::array_size(Capacity.parameters)]{};
    graph::update updates[castnet::ir::array_size(Capacity.updates)]{};
    repeated_block repeats[castnet::ir::array_size(Capacity.repeats)]{};
    int outputs[castnet::ir::array_size(Capacity.outputs)]{};
    int gradients[castnet::ir::array_size(Capacity.parameters)]{};
    int loss, seed, carries; // see results

    constexpr traced_graph(graph const& g, results const& r)
        : sizes{sizes_of(g, r)}, loss{r.loss}, seed{r.seed}, carries{r.carries} {
        if (!sizes.fit(Capacity)) {
            return;
        }
        copy_list(nodes, g.nodes);
        copy_list(windows, g.windows);
        copy_list(parameters, g.parameters);
        copy_list(updates, g.updates);
        copy_list(repeats, g.repeats);
        copy_list(outputs, r.outputs);
        copy_list(gradients, r.gradients);
        for (int i = r.gradients.size(); i < sizes.parameters; ++i) {
            gradients[i] = -1;
        }
    }

    // The graph that it was made of, for more nodes.
    constexpr graph graph_again() const {
        graph g{true};
        g.nodes.reserve(2 * sizes.nodes + 32);
        g.nodes.append(nodes, sizes.nodes);
        g.windows.append(windows, sizes.windows);
        g.parameters.append(parameters, sizes.parameters);
        g.updates.append(updates, sizes.updates);
        g.repeats.append(repeats, sizes.repeats);
        g.wrong = sizes.wrong;
        g.devices = sizes.devices;
        g.loops = sizes.loops;
        return g;
    }
    constexpr results results_again() const {
        results r;
        r.outputs.append(outputs, sizes.outputs);
        if (sizes.differentiated) {
            r.gradients.append(gradients, sizes.parameters);
        }
        r.loss = loss;
        r.seed = seed;
        r.carries = carries;
        return r;
    }

    constexpr graph_view view() const {
        return {nodes,         windows,
                parameters,    updates,
                repeats,       outputs,
                gradients,     sizes.nodes,
                sizes.windows, sizes.parameters,
                sizes.updates, sizes.repeats,
                sizes.outputs, sizes.differentiated,
                carries};
    }
};

} // namespace castnet::ir
