// Losses and metrics of single outputs: losses<…>, loss_weight<weight, loss>, on_output<n, metric>.
//
// Output n of a network is compared with target n of the data set. What a step minimises is the
// weighted sum of the losses, as of Keras' compile(loss=[…], loss_weights=[…]). Scores and
// histories have the sum as "loss", and each loss, without its weight, and each metric with the
// name of its output before it: "box_loss", "box_mae"; or "output_1_loss" where the output has no
// name.
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

// A loss like any other.
template <float Weight, class Loss>
struct weighted_loss : Loss {
    static constexpr float weight = Weight;
    using unweighted = Loss;

    constexpr auto operator()(Symbol auto... x) const { return double{Weight} * Loss{}(x...); }
};
// A loss that counts so many times: losses<cross_entropy, loss_weight<0.5F, mse>>.
template <float Weight, auto Loss>
inline constexpr weighted_loss<Weight, std::remove_cvref_t<decltype(Loss)>> loss_weight{};

template <size_t Output, class Metric>
struct output_metric {};
// A metric of another output than the first: on_output<1, mae>. Where a step has one target only,
// it is compared with that.
template <size_t Output, auto Metric>
inline constexpr output_metric<Output, std::remove_cvref_t<decltype(Metric)>> on_output{};

} // namespace castnet
