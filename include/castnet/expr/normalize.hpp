// Element-wise parts of normalisations; the sums between them are reductions of the graph
// (nn/batch_norm.hpp, nn/layer_norm.hpp, nn/group_norm.hpp).
#pragma once

#include <castnet/expr/function.hpp>
#include <castnet/expr/math.hpp>

#include <limits>

namespace castnet {

// (x - mean) * deviation * gamma + beta, with deviation = 1 / sqrt(variance + epsilon)
template <>
struct function<fn::normalize> : derivative_reads<0b01100, 0b01100, 0b01011, 0b00111, 0> {
    static constexpr char const* name = "normalize";
    template <class T>
    CASTNET_HD static constexpr T value(T x, T mean, T deviation, T gamma, T beta) {
        return (x - mean) * (deviation * gamma) + beta;
    }
    // With mean and deviation as constants, as in inference.
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T mean, T deviation,
                                                                   T gamma, T, T) {
        return I == 0   ? deviation * gamma
               : I == 1 ? -deviation * gamma
               : I == 2 ? (x - mean) * gamma
               : I == 3 ? (x - mean) * deviation
                        : T(1);
    }
};

// The gradient with respect to x where mean and deviation are those of the batch (Ioffe & Szegedy
// 2015): gamma * deviation * (g - share * (sum_g + xhat * sum_gx)), with share = 1 / number of
// elements per channel for samples that are present and 0 for those that are not.
template <>
struct function<fn::normalize_gradient>
    : derivative_reads<no_gradient, no_gradient, no_gradient, no_gradient, no_gradient, no_gradient,
                       no_gradient, no_gradient> {
    static constexpr char const* name = "normalize_gradient";
    template <class T>
    CASTNET_HD static constexpr T value(T g, T x, T mean, T deviation, T gamma, T sum_g, T sum_gx,
                                        T share) {
        return gamma * deviation * (g - share * (sum_g + (x - mean) * deviation * sum_gx));
    }
};

// (x - mean)^2. It has no derivative with respect to the mean: added up over all x that this is the
// mean of, it is 0.
template <>
struct function<fn::squared_difference> : derivative_reads<0b011, no_gradient> {
    static constexpr char const* name = "squared_difference";
    template <class T>
    CASTNET_HD static constexpr T value(T x, T mean) {
        return (x - mean) * (x - mean);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T mean, T) {
        return T(2) * (x - mean);
    }
};

// 1 / sqrt(variance + epsilon)
template <>
struct function<fn::inverse_deviation> : derivative_reads<0b100, no_gradient> {
    static constexpr char const* name = "inverse_deviation";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T variance, T epsilon) {
        return function<fn::rsqrt>::value(variance + epsilon);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T, T y) {
        return T(-0.5) * y * y * y;
    }
};

// exp(x - log_sum): softmax, with the logarithm of the sum of all exp(x). 0 where the sum is 0,
// since all x are -infinity.
template <>
struct function<fn::softmax> : derivative_reads<0b100, no_gradient> {
    static constexpr char const* name = "softmax";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x, T log_sum) {
        return elementary::exp(
            x - select(log_sum == -std::numeric_limits<T>::infinity(), T(0), log_sum));
    }
    // With the sum as a constant; that it is none: graph/op/map.hpp.
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T, T y) {
        return y;
    }
};

// The next running variance: towards the unbiased variance of the batch, whose n = samples * pixels
// elements gave the biased one. A single element has no variance, and changes nothing.
template <>
struct function<fn::running_variance>
    : derivative_reads<no_gradient, no_gradient, no_gradient, no_gradient, no_gradient> {
    static constexpr char const* name = "running_variance";
    template <class T>
    CASTNET_HD static constexpr T value(T running, T variance, T samples, T pixels, T momentum) {
        T const n = samples * pixels;
        T const unbiased = n > T(1) ? variance * (n / (n - T(1))) : running;
        return running + momentum * (unbiased - running);
    }
};

} // namespace castnet
