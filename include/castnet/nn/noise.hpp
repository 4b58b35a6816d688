// Gaussian noise in training, added or multiplied.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

// In training, for each element of x a number of the standard normal distribution, another one in
// every step (PyTorch's randn_like); in evaluation, prediction and frozen layers 0. x itself does
// not matter. So a variational autoencoder has the code
//     mean + exp(log_variance / 2) * normal_noise(mean)
// The numbers are a function of the seed, the step and the sample's place in it, as dropout is.
template <Shape S>
constexpr symbol<S> normal_noise(symbol<S> x) {
    ir::graph& g = *x.g;
    if (g.trains()) {
        return standard_normal<S>(g);
    }
    int const zero = constant_node(g, 0);
    return {&g, map_node(g, fn::add, ir::space_of<S>, {zero, zero})};
}

template <float Deviation>
struct gaussian_noise_layer {
    static constexpr char const* name = "gaussian_noise";
    static_assert(
        Deviation >= 0 && detail::is_finite(Deviation),
        "castnet: gaussian_noise: the standard deviation must be finite and not negative");

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        return x.g->trains() ? x + static_cast<double>(Deviation) * normal_noise(x) : x;
    }
};

// In training, every element plus noise of this standard deviation (Keras' GaussianNoise); in
// evaluation nothing happens.
template <ConstantNumber auto Deviation>
inline constexpr gaussian_noise_layer<static_cast<float>(Deviation)> gaussian_noise{};

template <float Rate>
struct gaussian_dropout_layer {
    static constexpr char const* name = "gaussian_dropout";

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        constexpr double rate = dropout_rate<Rate>::value,
                         deviation = constant_square_root(rate / (1 - rate));
        return x.g->trains() ? x * (1 + deviation * normal_noise(x)) : x;
    }
};

// In training, every element times a number of mean 1 and the variance of dropout of this rate,
// Rate / (1 - Rate) (Srivastava et al. 2014; Keras' GaussianDropout); in evaluation nothing
// happens.
template <ConstantNumber auto Rate>
inline constexpr gaussian_dropout_layer<static_cast<float>(Rate)> gaussian_dropout{};

} // namespace castnet
