// Name scopes of a network that is traced, and the parameters that layers create in them.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/product.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>

#include <optional>

namespace castnet {

// Kind of a layer with parameters, which names it if its container gave it neither a position nor a
// name: "dense_1", "conv2d_2", …. If a function is at a position, the first such layer in it has
// that position, and the others are "0.dense_2", "0.conv2d_3", …: a function with a single layer
// has the names of that layer.
struct layer_kind {
    char const* name;
};

// Adds a part to the prefix of all names for as long as it lives.
class scope_guard {
public:
    constexpr scope_guard(ir::graph& g, char const* name)
        : path_{g.path}, depth_{path_.prefix.depth}, unnamed_{path_.unnamed},
          positioned_{path_.positioned} {
        path_.prefix.push(name);
        path_.positioned = true;
        path_.unnamed = 0;
    }
    constexpr scope_guard(ir::graph& g, int position) : scope_guard{g, ""} {
        path_.prefix.parts[depth_].number = position;
    }
    constexpr scope_guard(ir::graph& g, layer_kind kind)
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
    std::optional<initializer> start{}; // default: Glorot uniform for weights, else zeros
    penalty cost{};
    bool trainable = true;
    int pixels = 1; // dense_weight: parameter::pixels
    int zero_row = -1;
};

namespace detail {

// The numbers that a program gives for a parameter.
constexpr void check_numbers(ir::graph& g, initializer start, penalty const& cost) {
    bool const is_range = start.kind == initial::uniform || start.kind == initial::normal;
    auto const start_value = static_cast<double>(start.value);
    g.expect(is_range ? is_finite_not_negative(start_value) : is_finite(start_value),
             mistake::number_of_initializer);
    g.expect(is_finite_not_negative(static_cast<double>(cost.l1)) &&
                 is_finite_not_negative(static_cast<double>(cost.l2)),
             mistake::number_of_penalty);
}

// The role `kind`, if S is a shape for it.
template <Shape S>
constexpr role checked_role(ir::graph& g, role kind) {
    if (kind == role::dense_weight && S::rank != 2) {
        g.report(mistake::axes_of_dense_weight);
        return role::vector;
    }
    if (kind == role::conv_weight && (S::rank < 3 || S::rank > 5)) {
        g.report(mistake::axes_of_conv_weight);
        return role::vector;
    }
    return kind;
}

// Whether a parameter that was asked for before starts as these options say, or they say nothing
// else than what is usual: of tables, such as an embedding's, normal. (Two functions of
// from_function are not compared.)
constexpr bool starts_as(parameter const& p, parameter_options const& options) {
    initializer const usual{is_weight(p.kind) ? initial::glorot_uniform : initial::zeros},
        of_tables{initial::normal, 1};
    initializer const start = options.start.value_or(usual);
    auto const is = [&](initializer const& other) {
        return start.kind == other.kind && start.value == other.value;
    };
    return (start.kind == usual.kind || is(of_tables) || is(p.start)) &&
           (options.zero_row < 0 || options.zero_row == p.zero_row);
}

// The node of a parameter that was asked for before: that which is trained, or one without a
// gradient.
constexpr int node_of_known(ir::graph& g, parameter& p, bool trainable) {
    bool const trained = trainable && g.path.frozen == 0;
    if (trained == p.trainable) {
        return p.node;
    }
    ir::node const n = g.nodes[p.node];
    int const other = g.append(n);
    if (trained) {
        p.trainable = true;
        p.node = other;
    }
    return other;
}

} // namespace detail

// A parameter of this name in the current scope; the existing one if a shared layer is applied
// again: where one application is frozen and another trained, a node for each (join_parameters). S
// is a row_major_shape<…> where three axes are no image's.
template <Shape S>
constexpr symbol<S> new_parameter(ir::graph& g, char const* name,
                                  parameter_options const& options = {}) {
    ++g.path.asked;
    parameter p;
    p.name = g.path.prefix;
    p.name.push(name);
    if (g.path.sharing > 0) {
        int const count = g.parameters.size();
        for (int k = 0; k < count; ++k) {
            int const i = (g.path.next + k) % count;
            if (g.parameters[i].name == p.name) {
                if (!(g.parameters[i].shape == ir::axes_of<S>)) {
                    g.report(mistake::shared_with_other_shape);
                    break;
                }
                g.expect(options.cost == penalty{} || options.cost == g.parameters[i].cost,
                         mistake::penalty_of_shared);
                g.expect(detail::starts_as(g.parameters[i], options), mistake::start_of_shared);
                g.path.next = i + 1;
                return {&g, detail::node_of_known(g, g.parameters[i], options.trainable)};
            }
        }
    }
    ir::node n = ir::graph::shaped<S>(op::parameter, false);
    p.kind = detail::checked_role<S>(g, options.kind);
    p.start = options.start.value_or(
        initializer{is_weight(p.kind) ? initial::glorot_uniform : initial::zeros});
    p.cost = options.cost;
    detail::check_numbers(g, p.start, p.cost);
    p.pixels = options.pixels;
    p.zero_row = options.zero_row;
    p.trainable = options.trainable && g.path.frozen == 0;
    p.shape = ir::axes_of<S>;
    n.attribute = g.parameters.size();
    p.node = g.push(n);
    p.repeat = g.repeat;
    g.parameters.push(p);
    return {&g, p.node};
}

} // namespace castnet
