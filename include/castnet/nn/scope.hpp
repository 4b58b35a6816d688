// Where the trace is in the network, and the parameters that layers ask for there.
#pragma once

#include <castnet/graph/linear.hpp>

namespace castnet {

// Where a layer that asks for parameters stands: at the position or under the name that its
// container gave it, else it is "dense_1", "conv2d_2", ….
struct layer_kind {
    char const* name;
};

// While it lives, names begin with one part more.
class scope_guard {
public:
    constexpr scope_guard(graph& g, char const* name)
        : path_{g.path}, depth_{path_.prefix.depth}, unnamed_{path_.unnamed},
          positioned_{path_.positioned} {
        path_.prefix.push(name);
        path_.positioned = true;
        path_.unnamed = 0;
    }
    constexpr scope_guard(graph& g, int position) : scope_guard{g, ""} {
        path_.prefix.parts[depth_].number = position;
    }
    constexpr scope_guard(graph& g, layer_kind kind)
        : path_{g.path}, depth_{path_.prefix.depth}, unnamed_{path_.unnamed},
          positioned_{path_.positioned} {
        if (!positioned_) {
            path_.prefix.push(kind.name, ++unnamed_);
        }
        path_.positioned = false;
        path_.unnamed = 0;
    }
    constexpr ~scope_guard() {
        path_.prefix.depth = depth_;
        path_.positioned = positioned_;
        path_.unnamed = unnamed_;
    }
    scope_guard(scope_guard const&) = delete;
    scope_guard& operator=(scope_guard const&) = delete;

private:
    scope& path_;
    int depth_;
    int unnamed_;
    bool positioned_;
};

struct parameter_options {
    role kind = role::vector;
    initializer start{};
    penalty cost{};
    int groups = 1;
    bool trainable = true;
    int pixels = 1;
};

// A parameter of this name in the present scope; the one that stands there already where a shared
// layer is applied again.
template <Shape S>
constexpr symbol<S> new_parameter(graph& g, char const* name, parameter_options const& options) {
    parameter p;
    p.name = g.path.prefix;
    p.name.push(name);
    if (g.path.sharing > 0) {
        int const count = g.parameters.size();
        for (int k = 0; k < count; ++k) {
            int const i = (g.path.next + k) % count;
            if (g.parameters[i].name == p.name) {
                g.path.next = i + 1;
                return {&g, g.parameters[i].node};
            }
        }
    }
    node n = graph::shaped<S>(op::parameter, false);
    p.kind = options.kind;
    p.start = options.start;
    p.cost = options.cost;
    p.groups = options.groups;
    p.pixels = options.pixels;
    p.trainable = options.trainable && g.path.frozen == 0;
    p.rank = n.rank;
    p.dims[0] = n.dims[0];
    p.dims[1] = n.dims[1];
    p.dims[2] = n.dims[2];
    p.dims[3] = n.dims[3];
    n.attribute = g.parameters.size();
    p.node = g.push(n);
    g.parameters.push(p);
    return {&g, p.node};
}

} // namespace castnet
