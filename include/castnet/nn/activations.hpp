// Activation layers with a parameter or over an axis: leaky_relu, elu, log_softmax, softmax, glu.
// All others are element-wise functions (expr/), which are layers themselves: relu, gelu, tanh, …
#pragma once

#include <castnet/graph/op/reduce.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/scope.hpp>
#include <castnet/tensor/mistakes.hpp>
#include <castnet/tensor/statistics.hpp>

#include <concepts>
#include <type_traits>

namespace castnet {

namespace detail {

// (Activations are functions of numbers and tensors, too.)
template <class X>
constexpr void expect_number([[maybe_unused]] X const& x, [[maybe_unused]] bool right) {
    if constexpr (Symbol<X>) {
        x.g->expect(right, mistake::number_of_activation);
    }
}

// The last axis of a tensor, along which activations work.
template <TensorExpression X>
constexpr size_t last_axis_of() {
    using S = typename X::shape_type;
    static_assert(has_last_axis<S>, "castnet: a tensor of rank 0 has no axis for a softmax");
    return S::rank == 0 ? 0 : S::rank - 1; // 0: after the complaint
}

} // namespace detail

// A class, so that every compiler prints the text.
template <fixed_string Instead>
struct number_is_set {
    static_assert(Instead.view().empty(),
                  "castnet: the number of an activation is set by a member function, and the layer "
                  "that it returns is called with x alone; see number_is_set<instead>");
    static constexpr bool checked = true;
};

// x for x > 0, else slope * x (PyTorch's LeakyReLU and its default slope).
struct leaky_relu_layer {
    static constexpr char const* name = "leaky_relu";
    double negative_slope = 0.01;
    constexpr leaky_relu_layer slope(double value) const { return {value}; }
    template <class X>
    constexpr auto operator()(X&& x) const {
        detail::expect_number(x, detail::is_finite(negative_slope));
        return elementwise<fn::leaky_relu>{}(static_cast<X&&>(x), negative_slope);
    }
    template <class X, class Slope> // a mistake
    constexpr auto operator()(X const& x, Slope const&) const {
        return detail::written_otherwise<number_is_set<"leaky_relu.slope(0.2)(x)">>(x);
    }
};
inline constexpr leaky_relu_layer leaky_relu{};

// x for x > 0, else alpha * (exp(x) - 1), alpha > 0 (Clevert et al. 2016).
struct elu_layer {
    static constexpr char const* name = "elu";
    double scale = 1;
    constexpr elu_layer alpha(double value) const { return {value}; }
    template <class X>
    constexpr auto operator()(X&& x) const {
        detail::expect_number(x, detail::is_finite(scale) && scale > 0);
        return elementwise<fn::elu>{}(static_cast<X&&>(x), scale);
    }
    template <class X, class Alpha> // a mistake
    constexpr auto operator()(X const& x, Alpha const&) const {
        return detail::written_otherwise<number_is_set<"elu.alpha(0.5)(x)">>(x);
    }
};
inline constexpr elu_layer elu{};

// Classes, so that every compiler prints the type and the text.
template <class Given>
struct softmax_takes {
    static_assert(detail::never<Given>,
                  "castnet: softmax and log_softmax take symbols and tensors; probabilities that a "
                  "model predicts are those of the same layers with softmax behind them, which "
                  "load the same file; see softmax_takes<given>");
    static constexpr bool checked = true;
};
template <fixed_string Instead>
struct softmax_axis_is_named {
    static_assert(Instead.view().empty(),
                  "castnet: softmax and log_softmax work along the last axis, or over the channels "
                  "of an image; another axis is named, softmax.along<axis>(x); see "
                  "softmax_axis_is_named<instead>");
    static constexpr bool checked = true;
};

template <bool Log, size_t Axis>
struct softmax_along_layer {
    static constexpr char const* name = Log ? "log_softmax" : "softmax";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        if constexpr (Log) {
            return x - logsumexp<Axis>(x, keepdims);
        } else {
            return elementwise<fn::softmax>{}(x, logsumexp<Axis>(x, keepdims));
        }
    }
    template <TensorExpression X>
    auto operator()(X const& x) const {
        auto const values = detail::kept_values(detail::as_floating(x));
        if constexpr (Log) {
            return evaluate(values - logsumexp<Axis>(values, keepdims));
        } else {
            auto const largest = max<Axis>(values, keepdims);
            auto powers = evaluate(castnet::exp(values - where(isfinite(largest), largest, 0)));
            auto const sums = sum<Axis>(powers, keepdims);
            powers *= where(sums > 0, 1 / sums, sums);
            return powers;
        }
    }
};

template <bool Log>
struct softmax_layer {
    static constexpr char const* name = Log ? "log_softmax" : "softmax";
    template <size_t Axis>
    static constexpr softmax_along_layer<Log, Axis> along{};

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        if constexpr (Log) {
            return x - log_sum_exp(x);
        } else {
            return elementwise<fn::softmax>{}(x, log_sum_exp(x));
        }
    }
    template <TensorExpression X>
    auto operator()(X const& x) const {
        return along<detail::last_axis_of<X>()>(x);
    }

    // Mistakes
    using axis_is_named = std::conditional_t<Log, softmax_axis_is_named<"log_softmax.along<0>(x)">,
                                             softmax_axis_is_named<"softmax.along<0>(x)">>;
    template <class X>
        requires(!AnyTensor<X>)
    constexpr X operator()(X const& x) const {
        static_assert(softmax_takes<X>::checked);
        return x;
    }
    template <AnyTensor X, class Axis>
    constexpr auto operator()(X const& x, Axis const&) const {
        return detail::written_otherwise<axis_is_named>(x);
    }
    template <std::integral Axis> // softmax<0>(x): compilers read a comparison
    constexpr Axis operator<(Axis const& axis) const {
        return detail::written_otherwise<axis_is_named>(axis);
    }
};
// log(softmax(x)) over the channels of an image or the last axis of anything else, or over another
// axis, log_softmax.along<Axis>(x), which is a layer, too. Of a tensor of the program it is
// computed at once, over the last axis, as torch.log_softmax(x, -1).
inline constexpr softmax_layer<true> log_softmax{};
// exp(x) / sum(exp(x)) over the same axis, or over another one, softmax.along<Axis>(x); 0 where all
// x are -infinity, as masked ones are.
inline constexpr softmax_layer<false> softmax{};

template <class S>
inline constexpr bool has_halves = S::rank > 0 && channels_of<S> % 2 == 0;

// The first half of the channels of an image, or of the last axis of anything else, times the
// sigmoid of the second half: a gated linear unit (Dauphin et al. 2017; PyTorch's GLU, of images
// over axis 1).
struct glu_layer {
    static constexpr char const* name = "glu";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(has_halves<S>,
                      "castnet: glu halves the channels of an image or the last "
                      "axis, whose extent must be even; see has_halves<input shape>");
        if constexpr (has_halves<S>) {
            constexpr size_t half = channels_of<S> / 2;
            auto const gate = x | slice_channels<half, half>;
            return (x | slice_channels<0, half>)*elementwise<fn::sigmoid>{}(gate);
        } else {
            return x;
        }
    }
};
inline constexpr glu_layer glu{};

} // namespace castnet
