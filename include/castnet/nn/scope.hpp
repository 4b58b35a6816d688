// Where the trace is in the network, and the parameters that layers ask for there.
#pragma once

#include <castnet/graph/linear.hpp>

namespace castnet {

struct layer_kind {
    std::string_view name;
};

// While it lives, names begin with one part more.
class scope_guard {
public:
    // A part given by the container: its position or the name that the user chose.
    constexpr scope_guard(graph& g, std::string_view part) : scope_guard{g} {
        g.path.prefix.append(part);
        begin(true);
    }
    constexpr scope_guard(graph& g, int position) : scope_guard{g} {
        g.path.prefix.append(position);
        begin(true);
    }

    // A layer that asks for parameters. Where no container named it, it is "dense_1", "conv2d_2", …
    constexpr scope_guard(graph& g, layer_kind kind) : scope_guard{g} {
        if (!positioned_) {
            g.path.prefix.append(kind.name);
            g.path.prefix.append("_");
            g.path.prefix.append(++unnamed_);
            g.path.prefix.append(".");
        }
        g.path.positioned = false;
        g.path.unnamed = 0;
    }

    constexpr ~scope_guard() {
        g_.path.prefix.truncate(length_);
        g_.path.positioned = positioned_;
        g_.path.unnamed = unnamed_;
    }
    scope_guard(scope_guard const&) = delete;
    scope_guard& operator=(scope_guard const&) = delete;

private:
    constexpr explicit scope_guard(graph& g)
        : g_{g}, length_{g.path.prefix.length}, positioned_{g.path.positioned},
          unnamed_{g.path.unnamed} {}

    constexpr void begin(bool positioned) {
        g_.path.prefix.append(".");
        g_.path.positioned = positioned;
        g_.path.unnamed = 0;
    }

    graph& g_;
    std::size_t length_;
    bool positioned_;
    int unnamed_;
};

struct parameter_options {
    role kind = role::vector;
    initializer start{};
    penalty cost{};
    int groups = 1;
    bool trainable = true;
};

// A parameter of this name in the present scope; the one that stands there already where a shared
// layer is applied again.
template <Shape S>
constexpr symbol<S> new_parameter(graph& g, std::string_view name, parameter_options options) {
    parameter p;
    p.name = g.path.prefix;
    p.name.append(name);
    p.name_hash = p.name.hash();
    for (parameter const& other : g.parameters) {
        if (other.name_hash == p.name_hash && other.name.view() == p.name.view()) {
            if (g.path.sharing == 0) {
                throw "castnet: two parameters have the same name; give one layer another name";
            }
            return {&g, other.node};
        }
    }
    node n = graph::shaped<S>(op::parameter, false);
    p.kind = options.kind;
    p.start = options.start;
    p.cost = options.cost;
    p.groups = options.groups;
    p.trainable = options.trainable && g.path.frozen == 0;
    p.rank = n.rank;
    for (int i = 0; i < 4; ++i) {
        p.dims[i] = n.dims[i];
    }
    n.attribute = static_cast<int>(g.parameters.size());
    p.node = g.push(n);
    g.parameters.push(p);
    return {&g, p.node};
}

} // namespace castnet
