// A finished graph as a constant of fixed size. Tracing and planning are separate constant
// evaluations, each with the compiler's whole budget of steps; this is what passes between them.
#pragma once

#include <castnet/graph/graph.hpp>

namespace castnet {

// What leaves a step. `gradients` has an entry per parameter (-1: none) or is empty.
struct results {
    list<int> outputs;
    list<int> gradients;
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
};

constexpr traced_sizes sizes_of(graph const& g, results const& r) {
    return {g.nodes.size(),   g.windows.size(), g.parameters.size(),
            g.updates.size(), r.outputs.size(), !r.gradients.empty(),
            g.devices};
}

constexpr int room(int count) { // arrays of length 0 are not C++
    return count > 0 ? count : 1;
}

template <class To, class T>
constexpr void copy_list(To& to, list<T> const& from) {
    int const count = from.size();
    T const* const data = from.data();
    for (int i = 0; i < count; ++i) {
        to[i] = data[i];
    }
}

template <traced_sizes Z>
struct traced_graph {
    node nodes[room(Z.nodes)]{};
    window windows[room(Z.windows)]{};
    parameter parameters[room(Z.parameters)]{};
    graph::update updates[room(Z.updates)]{};
    int outputs[room(Z.outputs)]{};
    int gradients[room(Z.parameters)]{};

    constexpr traced_graph(graph const& g, results const& r) {
        copy_list(nodes, g.nodes);
        copy_list(windows, g.windows);
        copy_list(parameters, g.parameters);
        copy_list(updates, g.updates);
        copy_list(outputs, r.outputs);
        copy_list(gradients, r.gradients);
        for (int i = r.gradients.size(); i < Z.parameters; ++i) {
            gradients[i] = -1;
        }
    }

    constexpr graph_view view() const {
        return {nodes,   windows,   parameters,   updates,   outputs,   gradients,
                Z.nodes, Z.windows, Z.parameters, Z.updates, Z.outputs, Z.differentiated};
    }
};

} // namespace castnet
