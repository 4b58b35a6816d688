// Loss function: an expression with one value per sample, whose gradient is derived.
//
// A loss is called with the symbols of a prediction and its target. The target has the shape of the
// prediction or, if `labels` is true, is a class number: one for each step of a sequence (time,
// classes) and for each pixel of an image (classes, height, width). A custom loss may define
// another `target_shape`. A network with several outputs has a loss for each
// (nn/output_losses.hpp), or one that is called with all outputs and then the target; or all
// targets, if it lists several or, as data::targets<>, none:
//     using targets = data::targets<data::label<3>, shape<4>>;
// Where `static constexpr bool probabilities = true`, a target that is not from 0 to 1 is an error.
// Its numbers are template arguments, or scalars that the program gives (graph/scalar.hpp), whose
// ranges it may list (core/hyperparameters.hpp).
// A step minimises
//     sum over samples of weight * loss  /  sum of weights,
// which is the mean if samples have no weights.
#pragma once

#include <castnet/core/language.hpp>

#include <concepts>

namespace castnet {

// Of losses and metrics that say all targets that they take.
template <class T>
concept ListsTargets = requires { typename T::targets; };
template <class T>
concept Loss = ListsTargets<T> || requires {
    { T::labels } -> std::convertible_to<bool>;
};

} // namespace castnet
