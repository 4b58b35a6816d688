// Tensors of random numbers, by counter (core/philox.hpp): an element is a function of the seed,
// the stream and its position, and of nothing else.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/core/sine.hpp>
#include <castnet/cpu/philox_words.hpp>
#include <castnet/tensor/detail/blocks.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace castnet {

namespace detail::inline CASTNET_VECTORS {

// Two numbers in [0, 1) of a pair of elements: of 24 bits for floats, of 53 for doubles.
template <std::floating_point T>
struct uniform_pair {
    T first, second;
};

CASTNET_HD constexpr philox_block block_of(philox_key key, std::uint64_t stream,
                                           std::uint64_t number) {
    return philox({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
                   static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                  key);
}

// Of two words, of which the first bits count.
template <std::floating_point T>
CASTNET_HD uniform_pair<T> uniform_of_words(std::uint64_t first, std::uint64_t second) {
    auto const fraction = [](std::uint64_t word) {
        if constexpr (sizeof(T) == sizeof(float)) {
            return uniform<T>(static_cast<std::uint32_t>(word >> 32));
        } else {
            return static_cast<T>(word >> 11) * static_cast<T>(0x1p-53);
        }
    };
    return {fraction(first), fraction(second)};
}
template <std::floating_point T>
CASTNET_HD uniform_pair<T> random_pair(philox_key key, std::uint64_t stream, std::uint64_t number) {
    philox_block const x = block_of(key, stream, number);
    return uniform_of_words<T>(std::uint64_t{x.x0} << 32 | x.x1, std::uint64_t{x.x2} << 32 | x.x3);
}

// Distributions of random tensors' elements; on the host for many at once, in vectors.
template <class T>
struct uniform_between {
    T low, high;
    CASTNET_HD uniform_pair<T> operator()(uniform_pair<T> u) const {
        return {low + (high - low) * u.first, low + (high - low) * u.second};
    }
    template <size_t Count>
    void replace(T (&first)[Count], T (&second)[Count]) const {
        for (size_t i = 0; i != Count; ++i) {
            auto const x = (*this)({first[i], second[i]});
            first[i] = x.first;
            second[i] = x.second;
        }
    }
};
template <class T>
struct normal_around { // by Box and Muller
    T mean, deviation;
    CASTNET_HD uniform_pair<T> operator()(uniform_pair<T> u) const {
        return at(std::sqrt(squared_radius(u.first)), u.second);
    }
    template <size_t Count>
    void replace(T (&first)[Count], T (&second)[Count]) const {
        for (size_t i = 0; i != Count; ++i) {
            first[i] = squared_radius(first[i]);
        }
        block_function<fn::sqrt>::take<Count>(first);
        for (size_t i = 0; i != Count; ++i) {
            auto const x = at(first[i], second[i]);
            first[i] = x.first;
            second[i] = x.second;
        }
    }

private:
    CASTNET_HD static T squared_radius(T u) { return T(-2) * elementary::log(T(1) - u); }
    CASTNET_HD uniform_pair<T> at(T radius, T turn) const {
        T const angle = T(2) * std::numbers::pi_v<T> * turn, far = deviation * radius;
#ifdef __CUDA_ARCH__
        return {mean + far * std::cos(angle), mean + far * std::sin(angle)};
#else
        return {mean + far * elementary::cosine_of_few_turns(angle),
                mean + far * elementary::sine_of_few_turns(angle)};
#endif
    }
};

// The pairs from number `begin` on.
template <class T, size_t Count>
void uniform_pairs(philox_key key, std::uint64_t stream, std::uint64_t begin, T (&first)[Count],
                   T (&second)[Count]) {
    if constexpr (Count < cpu::philox_counters) {
        for (size_t i = 0; i != Count; ++i) {
            auto const pair = random_pair<T>(key, stream, begin + i);
            first[i] = pair.first;
            second[i] = pair.second;
        }
    } else {
        constexpr size_t groups = (Count + cpu::philox_counters - 1) / cpu::philox_counters;
        std::uint64_t words[2][groups * cpu::philox_counters];
        cpu::philox_words(key, stream, begin, Count, words);
        for (size_t i = 0; i != Count; ++i) {
            auto const pair = uniform_of_words<T>(words[0][i], words[1][i]);
            first[i] = pair.first;
            second[i] = pair.second;
        }
    }
}

template <class T, class S, class Device, class Make>
tensor<T, S, Device> random_tensor(std::uint64_t seed, std::uint64_t stream, Make const& make) {
    auto result = tensor<T, S, Device>::empty();
    if constexpr (is_host<Device>) {
        constexpr size_t pairs = (S::count + 1) / 2;
        constexpr size_t at_once = std::clamp(pairs, size_t{1}, size_t{256});
        T first[at_once], second[at_once];
        for (size_t begin = 0; begin < S::count; begin += 2 * at_once) {
            uniform_pairs(key_of(seed), stream, begin / 2, first, second);
            make.replace(first, second);
            T* const to = result.data() + begin;
            size_t const count = std::min(2 * at_once, S::count - begin);
            for (size_t i = 0; i != count / 2; ++i) {
                to[2 * i] = first[i];
                to[2 * i + 1] = second[i];
            }
            if (count % 2 == 1) {
                to[count - 1] = first[count / 2];
            }
        }
    } else {
        Device::fill_with_random(result.view(), key_of(seed), stream, make);
    }
    return result;
}

// A word of 64 bits that orders the positions of a permutation; of a stream of no random_pair.
CASTNET_HD constexpr std::uint64_t permutation_stream(std::uint64_t stream) {
    return stream ^ std::uint64_t{0xFFFFFFFF} << 32;
}
CASTNET_HD constexpr std::uint64_t permutation_word(philox_key key, std::uint64_t stream,
                                                    std::uint64_t position) {
    philox_block const x = block_of(key, permutation_stream(stream), position);
    return std::uint64_t{x.x0} << 32 | x.x1;
}

} // namespace detail::inline CASTNET_VECTORS

// Uniform in [low, high): random_uniform<float, shape<3, 4>>(seed), on a GPU
// random_uniform<float, shape<3, 4>, device::cuda>(seed). Other streams of a seed are independent
// of each other. Throws castnet::error for a range that is none.
template <std::floating_point T, Shape S, class Device = device::cpu>
tensor<T, S, Device> random_uniform(std::uint64_t seed, T low = T(0), T high = T(1),
                                    std::uint64_t stream = 0) {
    detail::check_hyperparameters("random_uniform", {{"low", double(low), hyperparameter::finite},
                                                     {"high - low", double(high - low)}});
    return detail::random_tensor<T, S, Device>(seed, stream, detail::uniform_between<T>{low, high});
}

// Normal with this mean and standard deviation. Throws castnet::error for a deviation that is none.
template <std::floating_point T, Shape S, class Device = device::cpu>
tensor<T, S, Device> random_normal(std::uint64_t seed, T mean = T(0), T deviation = T(1),
                                   std::uint64_t stream = 0) {
    detail::check_hyperparameters("random_normal", {{"mean", double(mean), hyperparameter::finite},
                                                    {"deviation", double(deviation)}});
    return detail::random_tensor<T, S, Device>(seed, stream,
                                               detail::normal_around<T>{mean, deviation});
}

// The numbers below N in random order, as torch.randperm: random_permutation<60000>(seed). On a
// GPU, random_permutation<60000, device::cuda>(seed), it is the same one.
template <size_t N, class Device = device::cpu>
    requires(detail::is_host<Device>)
tensor<size_t, shape<N>> random_permutation(std::uint64_t seed, std::uint64_t stream = 0) {
    auto const word = [key = key_of(seed), stream](size_t i) {
        return detail::permutation_word(key, stream, i);
    };
    // Few words agree in their first bits, by which positions are sorted first.
    constexpr size_t bits = 10, one = 1;
    constexpr size_t digits = N <= one << bits ? 1 : N <= one << 2 * bits ? 2 : 3;
    using item = detail::placed_key<std::uint32_t>;
    detail::buffer<item, N> room;
    item* const items = room.data();
    constexpr size_t at_once = 256;
    std::uint64_t words[2][at_once];
    for (size_t begin = 0; begin < N; begin += at_once) {
        size_t const count = std::min(at_once, N - begin);
        cpu::philox_words(key_of(seed), detail::permutation_stream(stream), begin, count, words);
        for (size_t i = 0; i != count; ++i) {
            items[begin + i] = detail::with_place<std::uint32_t>(
                static_cast<std::uint32_t>(words[0][i] >> 32), begin + i);
        }
    }
    {
        detail::buffer<item, N> other;
        detail::sort_by_digits<detail::key_without_place<std::uint32_t>, digits, bits>(
            items, other.data(), std::uint32_t{N});
    }
    auto const comes_before_by_words = [word](item a, item b) __attribute__((noinline)) {
        auto const first = word(detail::place_of(a)), second = word(detail::place_of(b));
        return first < second || (first == second && a < b);
    };
    auto const comes_before = [&](item a, item b) {
        return a >> 32 != b >> 32 ? a < b : comes_before_by_words(a, b);
    };
    auto const put_in_place = [&](size_t i) {
        item const next = items[i];
        size_t at = i;
        for (; at > 0 && comes_before(next, items[at - 1]); --at) {
            items[at] = items[at - 1];
        }
        items[at] = next;
    };
    constexpr size_t several = 8, rest = (N - 1) % several; // of which mostly none has to be moved
    for (size_t i = 1; i != N - rest; i += several) {
        item unordered = 0;
        for (size_t k = i; k != i + several; ++k) {
            unordered |= items[k - 1] >> 32 >= items[k] >> 32 ? 1 : 0;
        }
        for (size_t k = i; unordered != 0 && k != i + several; ++k) {
            put_in_place(k);
        }
    }
    for (size_t i = N - rest; i < N; ++i) {
        put_in_place(i);
    }
    auto order = tensor<size_t, shape<N>>::empty();
    for (size_t i = 0; i != N; ++i) {
        order.data()[i] = detail::place_of(items[i]);
    }
    return order;
}

} // namespace castnet
