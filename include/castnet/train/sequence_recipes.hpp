// Recipes of stateful prediction: one step of a sequence, and the states after all of its steps.
#pragma once

#include <castnet/graph/one_step.hpp>
#include <castnet/train/recipes.hpp>

namespace castnet::detail {

struct one_step_recipe {
    static constexpr bool uses_all = false; // carries that nothing reads
    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        g.unrolls = true; // every layer has a state of its own
        ir::results r = prediction_recipe::build<Network>(g);
        ir::one_step{g, r}.run();
        return r;
    }
};

// Recipe of the state's parts, for all steps of a sequence at once.
struct states_recipe {
    static constexpr bool uses_all = false;
    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        ir::graph other{false};
        other.unrolls = g.unrolls = true;
        ir::results unused = prediction_recipe::build<Network>(other),
                    r = prediction_recipe::build<Network>(g);
        ir::one_step step{other, unused};
        step.run();
        step.keep_states(g, r);
        return r;
    }
};

// The most steps of a sequence; 0: any number.
template <class Network>
constexpr size_t most_steps() {
    ir::graph g{false};
    g.unrolls = true;
    ir::results r = prediction_recipe::build<Network>(g);
    ir::one_step step{g, r};
    step.run();
    return static_cast<size_t>(step.most_steps());
}

} // namespace castnet::detail
