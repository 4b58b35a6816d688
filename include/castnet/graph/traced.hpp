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
    int devices = 1;            // one more than the last that on<…> named
    bool probabilities = false; // see graph

    constexpr bool fit(traced_sizes const& room) const {
        return nodes <= room.nodes && windows <= room.windows && parameters <= room.parameters &&
               updates <= room.updates && outputs <= room.outputs;
    }
};

// Enough for most networks: a training step of ResNet-50 has 1435 nodes.
inline constexpr traced_sizes usual_trace{1536, 128, 320, 128, 8};

constexpr traced_sizes sizes_of(graph const& g, results const& r) {
    return {g.nodes.size(),   g.windows.size(),     g.parameters.size(), g.updates.size(),
            r.outputs.size(), !r.gradients.empty(), g.devices,           g.probabilities};
}

constexpr size_t room(int count) { // arrays of length 0 are not C++
    return count > 0 ? size_t(count) : 1;
}

template <class To, class T>
constexpr void copy_list(To& to, list<T> const& from) {
    int const count = from.size();
    T const* const data = from.data();
    for (int i = 0; i < count; ++i) {
        to[i] = data[i];
    }
}

// Where Room is not enough, nothing but the sizes is kept.
template <traced_sizes Room>
struct traced_graph {
    traced_sizes sizes;
    node nodes[castnet::room(Room.nodes)]{};
    window windows[castnet::room(Room.windows)]{};
    parameter parameters[castnet::room(Room.parameters)]{};
    graph::update updates[castnet::room(Room.updates)]{};
    int outputs[castnet::room(Room.outputs)]{};
    int gradients[castnet::room(Room.parameters)]{};

    constexpr traced_graph(graph const& g, results const& r) : sizes{sizes_of(g, r)} {
        if (!sizes.fit(Room)) {
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
    constexpr traced_sizes room() const { return sizes.fit(Room) ? Room : sizes; }

    constexpr graph_view view() const {
        return {nodes,         windows,       parameters,
                updates,       outputs,       gradients,
                sizes.nodes,   sizes.windows, sizes.parameters,
                sizes.updates, sizes.outputs, sizes.differentiated};
    }
};

} // namespace castnet
