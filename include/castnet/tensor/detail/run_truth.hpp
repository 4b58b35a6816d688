// Whether a run (run.hpp) has an element that is not 0, or one that is.
#pragma once

#include <castnet/tensor/detail/run.hpp>

#include <cstdint>
#include <type_traits>

namespace castnet::detail::inline CASTNET_VECTORS {

// Numbers that compilers compare in vectors; bool is compared as a byte.
template <class T>
concept ComparedInVectors = std::is_arithmetic_v<T> && sizeof(T) <= sizeof(std::int64_t);

template <class T>
using compared_as = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

// Whether one of Count elements is not 0 (or is 0 if Zero).
template <bool Zero, size_t Count, ComparedInVectors T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE bool has_truth(T const* x) {
    using vector = cpu::vec<compared_as<T>>;
    using mask = decltype(vector{} == vector{});
    constexpr size_t width = sizeof(vector) / sizeof(T), rest = Count % width;
    vector const* const vectors = reinterpret_cast<vector const*>(x);
    mask found = {};
    for (size_t k = 0; k < Count / width; ++k) {
        found |= Zero ? vectors[k] == vector{} : vectors[k] != vector{};
    }
    bool has = any_lane(found);
    for (size_t j = Count - rest; j < Count; ++j) {
        has |= (x[j] == T(0)) == Zero;
    }
    return has;
}

// The same of a run, block by block up to the first that has one.
template <bool Zero, size_t Count, ComparedInVectors T, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE bool truth_in_run(Run const& run) {
    constexpr size_t block = run_block * run_width<T>, rest = Count % block;
    for (size_t i = 0; i != Count - rest; i += block) {
        if (has_truth<Zero, block, T>(run(length<block>{}, i))) {
            return true;
        }
    }
    if constexpr (rest > 0) {
        return has_truth<Zero, rest, T>(run(length<rest>{}, Count - rest));
    }
    return false;
}

} // namespace castnet::detail::inline CASTNET_VECTORS
