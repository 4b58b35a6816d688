// Losses and metrics of single outputs: losses<…>, loss_weight<weight, loss>, on_output<n, metric>.
//
// Output n of a network is compared with target n of the data set. A step minimises the weighted
// sum of the losses, as with Keras' compile(loss=[…], loss_weights=[…]). Scores and histories have
// the sum as "loss", and each loss, without its weight, and each metric with the name of its output
// as a prefix: "box_loss", "box_mae"; "output_1_loss" if the output has no name.
#pragma once

#include <castnet/nn/losses.hpp>

#include <type_traits>

namespace castnet {

template <class... Loss>
struct loss_list {
    static constexpr size_t count = sizeof...(Loss);
};
// A loss for each output of a network, in their order: losses<cross_entropy, mse>.
template <auto... Loss>
inline constexpr loss_list<std::remove_cvref_t<decltype(Loss)>...> losses{};

// The loss times a constant, a loss like any other.
template <float Weight, class Loss>
struct weighted_loss : Loss {
    static constexpr float weight = Weight;
    using unweighted = Loss;

    constexpr auto operator()(Symbol auto... x) const { return double{Weight} * Loss{}(x...); }
};
// A loss with a weight: losses<cross_entropy, loss_weight<0.5F, mse>>.
template <float Weight, auto Loss>
inline constexpr weighted_loss<Weight, std::remove_cvref_t<decltype(Loss)>> loss_weight{};

template <size_t Output, class Metric>
struct output_metric {};
// A metric of another output than the first: on_output<1, mae>. If a step has only one target, the
// output is compared with that.
template <size_t Output, auto Metric>
inline constexpr output_metric<Output, std::remove_cvref_t<decltype(Metric)>> on_output{};

} // namespace castnet
