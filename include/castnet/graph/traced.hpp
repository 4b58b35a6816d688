// A finished graph as a constant of fixed size. Tracing and planning are separate constant
// evaluations, each with the compiler's whole budget of steps; this is what passes between them.
#pragma once

#include <castnet/graph/graph.hpp>

namespace castnet::ir {

// What leaves a step. `gradients` has an entry per parameter (-1: none) or is empty. The nodes of
// the loss and of what is sent backwards from it, where differentiation is still to come; else -1.
struct results {
    list<int> outputs;
    list<int> gradients;
    int loss = -1, seed = -1;
};

// A graph as the planner sees it.
struct graph_view {
    node const* nodes;
    window const* windows;
    parameter const* parameters;
    graph::update const* updates;
    int const* outputs;
    int const* gradients; // per parameter; all -1 where nothing is differentiated
    int node_count, window_count, parameter_count, update_count, output_count;
    bool differentiated;
};

struct traced_sizes {
    int nodes = 0, windows = 0, parameters = 0, updates = 0, outputs = 0;
    bool differentiated = false;
    int devices = 1; // one more than the last that on<…> named
    mistake wrong{}; // of the network, or none

    constexpr bool fit(traced_sizes const& capacity) const {
        return nodes <= capacity.nodes && windows <= capacity.windows &&
               parameters <= capacity.parameters && updates <= capacity.updates &&
               outputs <= capacity.outputs;
    }
};

// Enough for most networks, before differentiation.
inline constexpr traced_sizes usual_trace{1088, 128, 320, 128, 8};

// Enough for most graphs after differentiation: of the 1435 nodes of ResNet-50's training step 1040
// are there before, of the 64 of a small network's 36.
constexpr traced_sizes usual_differentiated(traced_sizes const& forward) {
    return {2 * forward.nodes + 32, forward.windows, forward.parameters, forward.updates,
            forward.outputs};
}

constexpr traced_sizes sizes_of(graph const& g, results const& r) {
    return {g.nodes.size(),   g.windows.size(),     g.parameters.size(), g.updates.size(),
            r.outputs.size(), !r.gradients.empty(), g.devices,           g.wrong};
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
    int outputs[castnet::ir::array_size(Capacity.outputs)]{};
    int gradients[castnet::ir::array_size(Capacity.parameters)]{};
    int loss, seed; // see results

    constexpr traced_graph(graph const& g, results const& r)
        : sizes{sizes_of(g, r)}, loss{r.loss}, seed{r.seed} {
        if (!sizes.fit(Capacity)) {
            return;
        }
        copy_list(nodes, g.nodes);
        copy_list(windows, g.windows);
        copy_list(parameters, g.parameters);
        copy_list(updates, g.updates);
        copy_list(outputs, r.outputs);
        copy_list(gradients, r.gradients);
        for (int i = r.gradients.size(); i < sizes.parameters; ++i) {
            gradients[i] = -1;
        }
    }

    // Room that is enough.
    constexpr traced_sizes capacity() const { return sizes.fit(Capacity) ? Capacity : sizes; }

    // What it was made of, for more nodes.
    constexpr graph graph_again() const {
        graph g{true};
        g.nodes.reserve(2 * sizes.nodes + 32);
        g.nodes.append(nodes, sizes.nodes);
        g.windows.append(windows, sizes.windows);
        g.parameters.append(parameters, sizes.parameters);
        g.updates.append(updates, sizes.updates);
        g.wrong = sizes.wrong;
        g.devices = sizes.devices;
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
        return r;
    }

    constexpr graph_view view() const {
        return {nodes,         windows,       parameters,
                updates,       outputs,       gradients,
                sizes.nodes,   sizes.windows, sizes.parameters,
                sizes.updates, sizes.outputs, sizes.differentiated};
    }
};

} // namespace castnet::ir
