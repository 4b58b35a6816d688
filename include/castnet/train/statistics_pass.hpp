// Pass that moves the statistics of layers on: the forward part of a training step, without a loss.
#pragma once

#include <castnet/optim/accumulate.hpp>
#include <castnet/optim/sgd.hpp>
#include <castnet/train/recipes.hpp>
#include <castnet/train/replicas.hpp>

namespace castnet::detail {

// In place of a training's loss, for steps on the same data. It depends on no output of the
// network, so nothing is computed but what statistics need.
template <class Loss>
struct no_loss_of {};

template <class Loss, class Outputs>
constexpr auto all_targets(std::type_identity<no_loss_of<Loss>>, Outputs outputs) {
    return all_targets(std::type_identity<Loss>{}, outputs);
}
template <class Loss, class Symbols>
constexpr symbol<shape<>> step_loss(std::type_identity<no_loss_of<Loss>>, Symbols const& s,
                                    ir::list<symbol<shape<>>>&) {
    return {&s.graph(), constant_node(s.graph(), 0)};
}
template <class Loss>
inline constexpr bool uses_all_parameters<no_loss_of<Loss>> = false;

// The replicas of a training for such steps, which have as many batches and update no parameter.
template <class Model, class Loss, class Optimizer>
using statistics_replicas =
    replicas<Model, no_loss_of<Loss>, accumulated<sgd, batches_of_step<Optimizer>()>>;

} // namespace castnet::detail
