// Losses and metrics of single outputs: losses<…>, loss_weight<weight, loss>, on_output<n, metric>.
//
// Output n of a network is compared with target n of the data set. A step minimises the weighted
// sum of the losses, as with Keras' compile(loss=[…], loss_weights=[…]). Scores and histories have
// the sum as "loss", and each loss, without its weight, and each metric with the name of its output
// as a prefix: "box_loss", "box_mae"; "output_1_loss" if the output has no name.
//
// Losses and metrics with scalars of the program (graph/scalar.hpp) are given as arguments:
//     loss_list{cross_entropy, loss_weight<0.5>(huber_loss{.delta = 2})}, on_output<1>(metric)
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/symbol.hpp>
#include <castnet/nn/loss.hpp>

#include <tuple>
#include <type_traits>

namespace castnet {

template <class... Loss>
struct loss_list {
    static constexpr size_t count = sizeof...(Loss);

    loss_list() = default;
    constexpr explicit loss_list(Loss const&... loss)
        requires(count > 0)
        : all{loss...} {}

    std::tuple<Loss...> all;
};
// A loss for each output of a network, in their order: losses<cross_entropy, mse>.
template <auto... Loss>
inline constexpr loss_list<std::remove_cvref_t<decltype(Loss)>...> losses{Loss...};

// The loss times a constant, a loss like any other.
template <double Weight, class Loss>
struct weighted_loss : Loss {
    static constexpr double weight = Weight;
    using unweighted = Loss;

    constexpr auto operator()(Symbol auto... x) const {
        return Weight * static_cast<Loss const&>(*this)(x...);
    }
};
template <double Weight>
struct loss_weight_of {
    static_assert(detail::is_finite(Weight),
                  "castnet: loss_weight<weight, loss>: the weight must be finite");

    template <class Loss>
    constexpr weighted_loss<Weight, Loss> operator()(Loss const& loss) const {
        return {loss};
    }
};
// A loss with a weight: losses<cross_entropy, loss_weight<0.5, mse>>, or loss_weight<0.5>(mse).
template <ConstantNumber auto Weight, auto... Loss>
inline constexpr loss_weight_of<static_cast<double>(Weight)> loss_weight{};
template <ConstantNumber auto Weight, auto Loss>
inline constexpr auto loss_weight<Weight, Loss> =
    loss_weight_of<static_cast<double>(Weight)>{}(Loss);

// Only for its message.
template <ConstantNumber Number, Loss L>
constexpr L operator*(Number, L const& loss) {
    static_assert(detail::never<L>, "castnet: the weight of a loss is a template argument: "
                                    "loss_weight<0.5, mse>");
    return loss;
}

template <size_t Output, class Metric>
struct output_metric {
    [[no_unique_address]] Metric metric;
};
template <size_t Output>
struct metric_on_output {
    template <class Metric>
    constexpr output_metric<Output, Metric> operator()(Metric const& metric) const {
        return {metric};
    }
};
// A metric of another output than the first: on_output<1, mae>, or on_output<1>(mae). If a step has
// only one target, the output is compared with that.
template <size_t Output, auto... Metric>
inline constexpr metric_on_output<Output> on_output{};
template <size_t Output, auto Metric>
inline constexpr auto on_output<Output, Metric> = metric_on_output<Output>{}(Metric);

} // namespace castnet
