// Recipes of prediction, evaluation and a training step: graphs of a network with what leaves them.
#pragma once

#include <castnet/graph/differentiate.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/train/step_scores.hpp>
#include <castnet/train/step_symbols.hpp>
#include <castnet/train/step_targets.hpp>

#include <type_traits>

namespace castnet {

namespace detail {

// The node with a value for each sample: one that all samples share, such as a parameter, is copied
// to each.
constexpr int of_each_sample(ir::graph& g, int id) {
    ir::extents size = g.nodes[id].size;
    if (size.sample) {
        return id;
    }
    size.sample = true;
    g.device = g.nodes[id].device;
    return map_node(g, fn::add, size, {value_id(symbol<shape<>>{&g, id}), constant_node(g, 0)});
}

struct prediction_recipe {
    static constexpr bool keeps_parameters = true;

    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        auto const out = Network::trace(g);
        ir::results r;
        for (int id : out.ids) {
            r.outputs.push(of_each_sample(g, id));
        }
        return r;
    }
};

// Whether all trained parameters must reach a loss.
template <class Loss>
inline constexpr bool uses_all_parameters = true;

// outputs: the weighted sums over the samples of the loss, of those that it consists of, and of
// each metric, which may have several.
template <class Loss, class... Metrics>
struct step_recipe {
    static constexpr bool uses_all = uses_all_parameters<Loss>;

    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        auto const out = Network::trace(g);
        int const parameters = g.parameters.size();
        g.device = g.nodes[out.ids[0]].device;
        using outputs = typename decltype(out)::shapes;
        step_symbols<outputs, targets_of_step<Loss, outputs>> const symbols{g, out.ids};
        symbol<shape<>> const weight =
            emit<shape<>>(g, ir::graph::shaped<shape<>>(op::sample_weight, true));
        ir::list<symbol<shape<>>> parts;
        symbol<shape<>> loss = step_loss(std::type_identity<Loss>{}, symbols, parts);
        loss.id = of_each_sample(g, loss.id);
        ir::results r;
        r.outputs.push(total(loss, weight));
        for (symbol<shape<>> part : parts) {
            r.outputs.push(total(part, weight));
        }
        (r.outputs.push(total(step_metric(std::type_identity<Metrics>{}, symbols), weight)), ...);
        if (g.parameters.size() > parameters) {
            g.report(mistake::parameter_in_loss);
        }
        if (g.training) {
            r.loss = loss.id;
            r.seed = weight.id;
        }
        return r;
    }

private:
    template <class S>
    static constexpr int total(symbol<S> value, symbol<shape<>> weight) {
        ir::graph& g = *value.g;
        return g.push(reduce_node(of_each_sample(g, value.id), ir::reduction::sum,
                                  ir::extents{false, 1, int(S::count)}, 1, weight.id));
    }
};

} // namespace detail
} // namespace castnet
