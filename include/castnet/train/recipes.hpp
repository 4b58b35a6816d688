// Recipes of prediction, evaluation and a training step: graphs of a network with what leaves them.
#pragma once

#include <castnet/graph/differentiate.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/train/step_scores.hpp>

#include <type_traits>

namespace castnet {

template <class LossOrMetric>
struct has_no_members {
    static_assert(std::is_empty_v<LossOrMetric>,
                  "castnet: a loss or metric has members, but only its type goes into the step: "
                  "make their values template arguments, as in huber<delta>; see "
                  "has_no_members<type>");
    static constexpr bool checked = true;
};
template <class... Loss>
struct has_no_members<loss_list<Loss...>> {
    static constexpr bool checked = (has_no_members<Loss>::checked && ...);
};
template <size_t Output, class Metric>
struct has_no_members<output_metric<Output, Metric>> : has_no_members<Metric> {};

namespace detail {

struct prediction_recipe {
    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        auto const out = Network::trace(g);
        ir::results r;
        for (int id : out.ids) {
            r.outputs.push(id);
        }
        return r;
    }
};

// outputs: the weighted sums over the samples of the loss, of those that it consists of, and of
// each metric.
template <class Loss, class... Metrics>
struct step_recipe {
    static_assert(has_no_members<Loss>::checked && (has_no_members<Metrics>::checked && ...));

    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        auto const out = Network::trace(g);
        g.device = g.nodes[out.ids[0]].device;
        using outputs = typename decltype(out)::shapes;
        step_symbols<outputs, targets_of_step<Loss, outputs>> const symbols{g, out.ids};
        symbol<shape<>> const weight =
            emit<shape<>>(g, ir::graph::shaped<shape<>>(op::sample_weight, true));
        ir::list<symbol<shape<>>> parts;
        symbol<shape<>> const loss = step_loss(Loss{}, symbols, parts);
        ir::results r;
        r.outputs.push(total(loss, weight));
        for (symbol<shape<>> part : parts) {
            r.outputs.push(total(part, weight));
        }
        (r.outputs.push(total(step_metric(Metrics{}, symbols), weight)), ...);
        if (g.training) {
            r.loss = loss.id;
            r.seed = weight.id;
        }
        return r;
    }

private:
    static constexpr int total(symbol<shape<>> value, symbol<shape<>> weight) {
        ir::graph& g = *value.g;
        return g.push(
            reduce_node(value.id, ir::reduction::sum, ir::extents{false, 1, 1}, 1, weight.id));
    }
};

} // namespace detail
} // namespace castnet
