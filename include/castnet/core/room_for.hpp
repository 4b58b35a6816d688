// A vector with room for numbers of each sample.
#pragma once

#include <castnet/core/error.hpp>

#include <cstddef>
#include <new>
#include <string_view>
#include <vector>

namespace castnet::detail {

// Zeros, so many for each sample. Throws castnet::error where there is not enough memory: what was
// to do with it, and what to do instead.
template <class T>
[[gnu::noinline]] std::vector<T> room_for(std::size_t samples, std::size_t numbers_each,
                                          std::string_view attempt, std::string_view instead) {
    std::vector<T> room;
    try {
        if (samples > room.max_size() / numbers_each) {
            throw std::bad_alloc{};
        }
        room.resize(samples * numbers_each);
    } catch (std::bad_alloc const&) {
        throw error({"castnet: ", attempt, ": not enough memory for the numbers of ", samples,
                     " samples; ", instead});
    }
    return room;
}

} // namespace castnet::detail
