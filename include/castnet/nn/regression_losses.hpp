// Losses of numbers: squared, absolute and relative errors, and what lies between them.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/loss.hpp>

#include <array>

namespace castnet {

// Mean squared error over the sample's elements.
struct mse_loss {
    static constexpr char const* name = "mse";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return mean(square(prediction - target));
    }
};
inline constexpr mse_loss mse{};

// Mean absolute error over the sample's elements.
struct mae_loss {
    static constexpr char const* name = "mae";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return mean(abs(prediction - target));
    }
};
inline constexpr mae_loss mae{};

// Mean absolute error in percent of the target, whose size counts as at least 1e-7 (Keras'
// MeanAbsolutePercentageError).
struct mape_loss {
    static constexpr char const* name = "mape";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return 100 * mean(abs(prediction - target) / maximum(abs(target), 1e-7));
    }
};
inline constexpr mape_loss mape{};

// Mean squared error of log(1 + x), for predictions and targets x that count as at least 1e-7
// (Keras' MeanSquaredLogarithmicError).
struct msle_loss {
    static constexpr char const* name = "msle";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        auto const logarithm = [](auto x) { return log1p(maximum(x, 1e-7)); };
        return mean(square(logarithm(prediction) - logarithm(target)));
    }
};
inline constexpr msle_loss msle{};

// Quadratic up to an error of delta, linear beyond (Huber 1964; PyTorch's HuberLoss).
struct huber_loss {
    static constexpr char const* name = "huber";
    static constexpr bool labels = false;
    scalar delta = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"delta", delta.value, hyperparameter::positive}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        auto const error = abs(prediction - target);
        auto const inside = minimum(error, delta);
        return mean(inside * (error - inside * 0.5));
    }
};
template <double Delta>
struct huber_delta {
    static_assert(detail::in_range({"delta", Delta, hyperparameter::positive}),
                  "castnet: huber<delta>: delta must be finite and above 0");
    static constexpr double value = Delta;
};
template <ConstantNumber auto Delta = 1>
inline constexpr huber_loss huber{.delta = huber_delta<static_cast<double>(Delta)>::value};

// log(cosh(error)), the mean over the sample's elements: half the square of small errors, and the
// absolute value of large ones less log(2) (Keras' LogCosh).
struct log_cosh_loss {
    static constexpr char const* name = "log_cosh";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        auto const error = abs(prediction - target);
        return mean(error + log1p(0.5 * expm1(-2 * error))); // keeps the digits of small errors
    }
};
inline constexpr log_cosh_loss log_cosh{};

static_assert(Loss<mse_loss> && Loss<mae_loss> && Loss<huber_loss>);

} // namespace castnet
