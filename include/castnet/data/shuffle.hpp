// Shuffling: the random order of the samples in an epoch.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/data/detail/random_stream.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace castnet::data {

// Fills `order` with the numbers 0 .. order.size() - 1 in random order; every order is equally
// likely (Fisher-Yates). It depends on (size, seed, epoch) alone: not on the machine, the thread or
// the epochs before, so a resumed training continues in the same order. Allocates nothing.
[[gnu::noinline]] inline void shuffle(std::span<size_t> order, std::uint64_t seed,
                                      std::uint64_t epoch) {
    constexpr std::uint32_t purpose = 0x73687566; // "shuf"
    detail::random_stream random{purpose, seed, epoch};
    for (size_t i = 0; i < order.size(); ++i) {
        auto const j = size_t{random.below(i + 1)};
        order[i] = order[j];
        order[j] = i;
    }
}

// The same for samples that are read in order, of which `buffer` are held: the next one is any of
// these, and the first that has not been read takes its place (tf.data's shuffle). With a buffer
// for all of them, every order is equally likely; with one of 1, they stay in order.
[[gnu::noinline]] inline void shuffle(std::span<size_t> order, std::uint64_t seed,
                                      std::uint64_t epoch, size_t buffer) {
    if (buffer >= order.size()) {
        return shuffle(order, seed, epoch);
    }
    constexpr std::uint32_t purpose = 0x62756666; // "buff"
    detail::random_stream random{purpose, seed, epoch};
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = 0; i < order.size(); ++i) {
        std::swap(order[i],
                  order[i + random.below(std::min(std::max<size_t>(buffer, 1), order.size() - i))]);
    }
}

// The samples that a data set holds for shuffling: as it says itself if it is read in order, else
// all of them.
template <class Data>
size_t shuffle_buffer(Data const& data) {
    if constexpr (requires { data.shuffle_buffer(); }) {
        return data.shuffle_buffer();
    } else {
        return data.size();
    }
}

} // namespace castnet::data
