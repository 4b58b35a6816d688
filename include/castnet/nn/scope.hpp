// Scopes of names while a network is traced, and the parameters that layers ask for in them.
#pragma once

#include <castnet/graph/linear.hpp>

#include <optional>

namespace castnet {

// Where a layer that asks for parameters stands: at the position or under the name that its
// container gave it, else it is "dense_1", "conv2d_2", …. Where a function stands at a position,
// the first such layer in it has that, and the others are "0.dense_2", "0.conv2d_3", …: a function
// of one layer has the names of that layer.
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
        takes_position_ = positioned_;
        path_.positioned = false;
        path_.unnamed = 0;
    }
    constexpr ~scope_guard() {
        bool const taken = takes_position_ && path_.asked != asked_;
        path_.prefix.depth = depth_;
        path_.positioned = positioned_ && !taken;
        path_.unnamed = taken ? 1 : unnamed_;
    }
    scope_guard(scope_guard const&) = delete;
    scope_guard& operator=(scope_guard const&) = delete;

private:
    scope& path_;
    int depth_;
    int unnamed_;
    int asked_ = path_.asked;
    bool positioned_;
    bool takes_position_ = false; // its parameters are the first at this position
};

struct parameter_options {
    role kind = role::vector;
    std::optional<initializer> start{}; // unless told: Glorot uniform for weights, else zeros
    penalty cost{};
    int groups = 1; // conv_weight
    bool trainable = true;
    int pixels = 1; // dense_weight: parameter::pixels
};

namespace detail {

// Throws, which ends the compilation, where the shape is none for the role.
template <Shape S>
constexpr void check_role(parameter_options const& options) {
    if (options.kind == role::dense_weight && S::rank != 2) {
        throw "castnet: a parameter of role::dense_weight has two axes (units, features)";
    }
    if (options.kind == role::conv_weight && S::rank != 4) {
        throw "castnet: a parameter of role::conv_weight has four axes (filters, channels / "
              "groups, height, width)";
    }
}

template <Shape S>
constexpr bool has_shape(parameter const& p) {
    bool same = p.rank == static_cast<int>(S::rank);
    for (int i = 0; same && i < p.rank; ++i) {
        same = p.dims[i] == static_cast<int>(S::extent[i]);
    }
    return same;
}

} // namespace detail

// A parameter of this name in the present scope; the one that stands there already where a shared
// layer is applied again.
template <Shape S>
constexpr symbol<S> new_parameter(graph& g, char const* name, parameter_options const& options) {
    detail::check_role<S>(options);
    ++g.path.asked;
    parameter p;
    p.name = g.path.prefix;
    p.name.push(name);
    if (g.path.sharing > 0) {
        int const count = g.parameters.size();
        for (int k = 0; k < count; ++k) {
            int const i = (g.path.next + k) % count;
            if (g.parameters[i].name == p.name) {
                if (!detail::has_shape<S>(g.parameters[i])) {
                    throw "castnet: shared<name, layer> stands where its layer needs parameters of "
                          "another shape; apply it to inputs of one shape, or name the other layer "
                          "differently";
                }
                g.path.next = i + 1;
                return {&g, g.parameters[i].node};
            }
        }
    }
    node n = graph::shaped<S>(op::parameter, false);
    p.kind = options.kind;
    p.start = options.start.value_or(
        initializer{is_weight(options.kind) ? initial::glorot_uniform : initial::zeros});
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
