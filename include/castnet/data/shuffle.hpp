// Shuffling: the random order of the samples in an epoch.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/data/detail/random_stream.hpp>

#include <span>

namespace castnet::data {

// Fills `order` with the numbers 0 .. order.size() - 1 in random order; every order is equally
// likely (Fisher-Yates). It depends on (size, seed, epoch) alone: not on the machine, the thread or
// the epochs before, so a resumed training continues in the same order. Allocates nothing.
[[gnu::cold]] inline void shuffle(std::span<size_t> order, std::uint64_t seed,
                                  std::uint64_t epoch) {
    constexpr std::uint32_t purpose = 0x73687566; // "shuf"
    detail::random_stream random{purpose, seed, epoch};
    for (size_t i = 0; i < order.size(); ++i) {
        auto const j = size_t{random.below(i + 1)};
        order[i] = order[j];
        order[j] = i;
    }
}

} // namespace castnet::data
