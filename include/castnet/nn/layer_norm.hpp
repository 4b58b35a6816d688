// Layer normalisation (Ba et al. 2016; PyTorch's LayerNorm) and its form without a mean (Zhang &
// Sennrich 2019; PyTorch's RMSNorm): each sample by itself, in training as in evaluation.
//
// Over the features of each row of a sequence, the channels of each pixel of an image; or, with
// .over_all_axes(), over the whole sample. Parameters: weight (ones) and, for layer_norm, bias
// (zeros), of shape (features) or of the whole sample. The variance is the mean of the squared
// distances from the mean.
#pragma once

#include <castnet/graph/op/reduce.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

namespace detail {

// A parameter of a normalisation, as x is combined with it: one number for each element of x or for
// each of its channels.
template <bool AllAxes, Shape S>
constexpr auto norm_parameter(symbol<S> x, char const* name, initializer start) {
    parameter_options const options{role::vector, start};
    if constexpr (AllAxes) {
        return new_parameter<S>(*x.g, name, options);
    } else {
        return along_channels<S>(new_parameter<shape<channels_of<S>>>(*x.g, name, options));
    }
}

// 1 / sqrt(variance + epsilon).
template <class Variance>
constexpr symbol<Variance> inverse_deviation(symbol<Variance> variance, double epsilon) {
    variance.g->expect(is_finite_not_negative(epsilon), mistake::epsilon_of_norm);
    return elementwise<fn::inverse_deviation>{}(variance, epsilon);
}

// (x - mean) / sqrt(variance + epsilon), times a weight and plus a bias where they are wanted.
template <bool AllAxes = false, Shape S, class Statistic>
constexpr symbol<S> normalized(symbol<S> x, symbol<Statistic> mean, symbol<Statistic> variance,
                               double epsilon, bool has_weight, bool has_bias) {
    elementwise<fn::normalize> const normalize{};
    auto const deviation = inverse_deviation(variance, epsilon);
    if (!has_weight) {
        return normalize(x, mean, deviation, 1, 0);
    }
    auto const weight = norm_parameter<AllAxes>(x, "weight", ones);
    if (!has_bias) {
        return normalize(x, mean, deviation, weight, 0);
    }
    return normalize(x, mean, deviation, weight, norm_parameter<AllAxes>(x, "bias", zeros));
}

template <bool AllAxes, Shape S>
constexpr auto mean_of_norm(symbol<S> x) {
    if constexpr (AllAxes) {
        return mean(x);
    } else {
        return mean_channels(x);
    }
}

} // namespace detail

// layer_norm and layer_norm.over_all_axes(), PyTorch's LayerNorm of the last axis and of the whole
// shape of a sample. (Keras' LayerNormalization has epsilon 1e-3.)
template <bool AllAxes>
struct layer_norm_layer {
    static constexpr char const* name = "layer_norm";
    double epsilon = 1e-5;
    bool has_weight = true, has_bias = true;

    constexpr layer_norm_layer with_epsilon(double value) const {
        return {value, has_weight, has_bias};
    }
    constexpr layer_norm_layer no_bias() const { return {epsilon, has_weight, false}; }
    // Without weight and bias: PyTorch's elementwise_affine=False.
    constexpr layer_norm_layer no_affine() const { return {epsilon, false, false}; }
    constexpr layer_norm_layer<true> over_all_axes() const {
        return {epsilon, has_weight, has_bias};
    }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        scope_guard const scope{*x.g, layer_kind{name}};
        auto const mean = detail::mean_of_norm<AllAxes>(x);
        auto const variance =
            detail::mean_of_norm<AllAxes>(elementwise<fn::squared_difference>{}(x, mean));
        return detail::normalized<AllAxes>(x, mean, variance, epsilon, has_weight, has_bias);
    }
};
inline constexpr layer_norm_layer<false> layer_norm{};

// x / sqrt(mean of x^2 + epsilon) * weight, over the same axes. PyTorch's default epsilon is that
// of the element type, here always that of float; Keras' RMSNormalization has 1e-6.
template <bool AllAxes>
struct rms_norm_layer {
    static constexpr char const* name = "rms_norm";
    double epsilon = 1.1920928955078125e-07;
    bool has_weight = true;

    constexpr rms_norm_layer with_epsilon(double value) const { return {value, has_weight}; }
    // Without the weight: PyTorch's elementwise_affine=False.
    constexpr rms_norm_layer no_affine() const { return {epsilon, false}; }
    constexpr rms_norm_layer<true> over_all_axes() const { return {epsilon, has_weight}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        scope_guard const scope{*x.g, layer_kind{name}};
        auto const squares = detail::mean_of_norm<AllAxes>(square(x));
        auto const deviation = detail::inverse_deviation(squares, epsilon);
        elementwise<fn::normalize> const normalize{};
        return has_weight ? normalize(x, 0, deviation,
                                      detail::norm_parameter<AllAxes>(x, "weight", ones), 0)
                          : normalize(x, 0, deviation, 1, 0);
    }
};
inline constexpr rms_norm_layer<false> rms_norm{};

} // namespace castnet
