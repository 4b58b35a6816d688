// Store of computed elements to neighbours in memory, in vectors.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>

#include <cstring>

namespace castnet::detail {

// out[i] = value(i) for i < Count, where iterations do not depend on each other: what value(i)
// reads is not written, or is element i itself. (GCC forgets this about loops that it unrolls
// before it looks for vectors, and clang cannot be told: there, elements are computed before they
// are stored.)
template <size_t Count, class T, class Value>
CASTNET_ALWAYS_INLINE void store(T* out, Value const& value) {
#ifdef __clang__
    constexpr size_t block_length = 64, rest = Count % block_length;
#else
    constexpr size_t block_length = 16, rest = Count <= block_length ? Count : 0;
#endif
    auto const store_block = [&]<size_t Length>(size_t first, shape<Length>)
                                 __attribute__((always_inline)) {
                                     T block[Length];
                                     for (size_t i = 0; i < Length; ++i) {
                                         block[i] = static_cast<T>(value(first + i));
                                     }
                                     std::memcpy(out + first, block, sizeof block);
                                 };
#ifdef __clang__
    for (size_t first = 0; first != Count - rest; first += block_length) {
        store_block(first, shape<block_length>{});
    }
#else
    if constexpr (rest == 0) {
        CASTNET_IVDEP
        for (size_t i = 0; i < Count; ++i) {
            out[i] = static_cast<T>(value(i));
        }
    }
#endif
    if constexpr (rest > 0) {
        store_block(Count - rest, shape<rest>{});
    }
}

} // namespace castnet::detail
