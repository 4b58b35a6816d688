// Tensors of random numbers, by counter (core/philox.hpp): an element is a function of the seed,
// the stream and its position, and of nothing else.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace castnet {

namespace detail {

// Two numbers in [0, 1) of a pair of elements: of 24 bits for floats, of 53 for doubles.
template <std::floating_point T>
struct uniform_pair {
    T first, second;
};
template <std::floating_point T>
uniform_pair<T> random_pair(philox_key key, std::uint64_t stream, std::uint64_t number) {
    philox_block const x =
        philox({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
                static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
               key);
    auto const fraction = [](std::uint32_t high, std::uint32_t low) {
        if constexpr (sizeof(T) == sizeof(float)) {
            return uniform<T>(high);
        } else {
            std::uint64_t const word = std::uint64_t{high} << 32 | low;
            return static_cast<T>(word >> 11) * static_cast<T>(0x1p-53);
        }
    };
    return {fraction(x.x0, x.x1), fraction(x.x2, x.x3)};
}

template <class T, Shape S, class Make>
tensor<T, S> random_tensor(std::uint64_t seed, std::uint64_t stream, Make const& make) {
    auto result = tensor<T, S>::empty();
    for (size_t i = 0; i < S::count; i += 2) {
        auto const pair = make(random_pair<T>(key_of(seed), stream, i / 2));
        result.data()[i] = pair.first;
        if (i + 1 < S::count) {
            result.data()[i + 1] = pair.second;
        }
    }
    return result;
}

// A word of 64 bits that orders the positions of a permutation; no word of random_pair.
CASTNET_HD constexpr std::uint64_t permutation_word(philox_key key, std::uint64_t stream,
                                                    std::uint64_t position) {
    philox_block const x =
        philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
                static_cast<std::uint32_t>(stream), ~static_cast<std::uint32_t>(stream >> 32)},
               key);
    return std::uint64_t{x.x0} << 32 | x.x1;
}

} // namespace detail

// Uniform in [low, high): random_uniform<float, shape<3, 4>>(seed). Other streams of a seed are
// independent of each other.
template <std::floating_point T, Shape S>
tensor<T, S> random_uniform(std::uint64_t seed, T low = T(0), T high = T(1),
                            std::uint64_t stream = 0) {
    return detail::random_tensor<T, S>(seed, stream, [=](detail::uniform_pair<T> u) {
        return detail::uniform_pair<T>{low + (high - low) * u.first, low + (high - low) * u.second};
    });
}

// Normal with this mean and standard deviation, by Box and Muller.
template <std::floating_point T, Shape S>
tensor<T, S> random_normal(std::uint64_t seed, T mean = T(0), T deviation = T(1),
                           std::uint64_t stream = 0) {
    return detail::random_tensor<T, S>(seed, stream, [=](detail::uniform_pair<T> u) {
        T const radius = deviation * std::sqrt(T(-2) * std::log(T(1) - u.first));
        T const angle = T(2) * std::numbers::pi_v<T> * u.second;
        return detail::uniform_pair<T>{mean + radius * std::cos(angle),
                                       mean + radius * std::sin(angle)};
    });
}

// The numbers below N in random order, as torch.randperm: random_permutation<60000>(seed). On a
// GPU, random_permutation<60000, device::cuda>(seed), it is the same one.
template <size_t N, class Device = device::cpu>
    requires(detail::is_host<Device>)
tensor<size_t, shape<N>> random_permutation(std::uint64_t seed, std::uint64_t stream = 0) {
    auto words = tensor<std::uint64_t, shape<N>>::empty();
    for (size_t i = 0; i != N; ++i) {
        words.data()[i] = detail::permutation_word(key_of(seed), stream, i);
    }
    return argsort(words);
}

} // namespace castnet
