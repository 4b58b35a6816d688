// Statistics of layers: what training steps change by a formula of their own and no gradient, as
// running means (PyTorch's buffers, register_buffer).
//
//     struct centre_layer { // minus a running mean
//         template <cn::Shape S>
//         constexpr auto operator()(cn::symbol<S> x) const {
//             cn::scope_guard const scope{*x.g, cn::layer_kind{"centre"}};
//             auto mean = cn::new_statistic<S>(*x.g, "mean");
//             if (x.g->trains()) {
//                 mean = cn::update(mean, cn::lerp(mean, cn::batch_mean(x), 0.1));
//             }
//             return x - mean;
//         }
//     };
#pragma once

#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scope.hpp>

#include <type_traits>

namespace castnet {

// A statistic of this name in the current scope; where a shared layer is applied again, what the
// application before has made of it. Files, checkpoints and model.get() have it beside the
// parameters; it is not trained, and no gradient passes it. S is a row_major_shape<…> where three
// axes are no image's.
template <Shape S>
constexpr symbol<S> new_statistic(ir::graph& g, char const* name, initializer start = zeros) {
    parameter_options options{role::statistic, start};
    options.trainable = false;
    symbol<S> const first = new_parameter<S>(g, name, options);
    if (g.path.sharing > 0) {
        int const parameter = g.nodes[first.id].attribute;
        for (ir::graph::update const& u : g.updates) {
            if (u.parameter == parameter) {
                return {&g, u.value};
            }
        }
    }
    return first;
}

// Classes, so that every compiler prints the shapes.
template <class Statistic, class Value>
struct statistic_keeps_shape {
    static_assert(std::is_same_v<Statistic, Value>,
                  "castnet: update(statistic, value): the value has another shape than the "
                  "statistic; see statistic_keeps_shape<statistic, value>");
    static constexpr bool checked = true;
};

namespace detail {

// The statistic, whose node is that of new_statistic() or of an update, becomes the value of this
// node, an element-wise function; `alone`: see graph::update.
constexpr void set_next(ir::graph& g, int statistic, int value, bool alone) {
    ir::node const& n = g.nodes[statistic];
    int const parameter = n.kind == op::parameter ? n.attribute : -1;
    if (parameter >= 0 && g.parameters[parameter].kind == role::statistic) {
        g.expect(g.parameters[parameter].repeat == g.repeat, mistake::statistic_of_another_block);
        g.updates.push({parameter, value, alone});
        return;
    }
    for (ir::graph::update& u : g.updates) {
        if (u.value == statistic) {
            u.value = value;
            return;
        }
    }
    g.report(mistake::update_of_no_statistic);
}

} // namespace detail

// Says what a training step makes of a statistic. It takes place in training steps only, not in
// evaluation, predictions and frozen layers, once in each batch: with accumulated gradients,
// several times in a step. The value is one for all samples, made of parameters, statistics, and
// means and sums over the batch (batch_mean, batch_sum). All replicas then make the same of it.
//
// Returns what the statistic becomes, without a gradient, or, where it is not updated, the
// statistic. The symbol of the statistic itself is what it was before the step, wherever it is
// read.
template <Shape S, Shape V>
constexpr symbol<S> update(symbol<S> statistic, symbol<V> value) {
    static_assert(statistic_keeps_shape<S, V>::checked);
    if constexpr (std::is_same_v<S, V>) {
        ir::graph& g = *statistic.g;
        if (!g.trains()) {
            return statistic;
        }
        symbol<S> const next = stop_gradient(value);
        g.expect(!g.nodes[next.id].size.sample, mistake::update_by_samples);
        detail::set_next(g, statistic.id, next.id, false);
        return next;
    } else {
        return statistic;
    }
}

} // namespace castnet
