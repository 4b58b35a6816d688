// Store of computed elements to neighbours in memory, in vectors.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/operand.hpp>

#include <cstring>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// A number as an element of type T; a bool as the byte that it is, which g++ has vectors of.
template <class T, class X>
CASTNET_ALWAYS_INLINE auto stored_as(X x) {
    if constexpr (std::is_same_v<T, bool>) {
        return static_cast<unsigned char>(x != X(0) ? 1 : 0);
    } else {
        return static_cast<T>(x);
    }
}

// Whether g++ computes a block of numbers best without a loop, which leaves several vectors in
// memory. (Of unrolled roundings there are no vectors.)
template <size_t Count, element_cost Cost, class T>
inline constexpr bool unrolls_block =
#if !defined(__clang__) && !defined(__CUDACC__)
    Cost != element_cost::high &&
    (Count <= 4 || (Count <= 16 && Count * sizeof(T) != size_t{cpu::vector_bytes}));
#else
    false;
#endif

// A number of neighbours, all computed before one is stored. `Cost` is that of a value.
template <size_t Count, element_cost Cost, class T, class Value>
class computed_block {
    using number = decltype(stored_as<T>(std::declval<Value>()(size_t{})));
    static constexpr bool unrolls = unrolls_block<Count, Cost, T>;

public:
    CASTNET_ALWAYS_INLINE computed_block(Value const& value, size_t first) {
        if constexpr (unrolls) {
            for_few<Count>([&](size_t i) __attribute__((always_inline)) {
                block_[i] = stored_as<T>(value(first + i));
            });
        } else {
#if !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC unroll 1 // first vectors, then no loop
#endif
            for (size_t i = 0; i < Count; ++i) {
                block_[i] = stored_as<T>(value(first + i));
            }
        }
    }
    CASTNET_ALWAYS_INLINE void store(T* out) const {
        if constexpr (unrolls) { // (what g++ copies at once lies in memory first)
            auto* const to = reinterpret_cast<number*>(out);
            for_few<Count>([&](size_t i) __attribute__((always_inline)) { to[i] = block_[i]; });
        } else {
            std::memcpy(out, block_, sizeof block_);
        }
    }

private:
    number block_[Count];
};

// out[i] = value(first + i) for i < Count, all read before one is stored.
template <size_t Count, element_cost Cost, class T, class Value>
CASTNET_ALWAYS_INLINE void store_block(T* out, Value const& value, size_t first) {
    computed_block<Count, Cost, T, Value>{value, first}.store(out);
}

#ifdef __clang__
// since it makes a loop of copies a call of memcpy, and stores what a loop computes
inline constexpr bool stores_in_blocks = true;
// It warns of a loop that it cannot vectorize (sines without AVX2, say) in the function into which
// the loop is inlined, which is the program's: so this holds from here to the end.
#pragma clang diagnostic ignored "-Wpass-failed"
#else
inline constexpr bool stores_in_blocks = false;
#endif

// out[i] = value(i) for i < Count, where iterations do not depend on each other: what value(i)
// reads is not written, or is element i itself. (GCC forgets this about loops that it unrolls
// before it looks for vectors.)
template <element_cost Cost, size_t Count, class T, class Value>
CASTNET_ALWAYS_INLINE void store(T* out, Value const& value) {
    if constexpr (Count <= 16) {
        store_block<Count, Cost>(out, value, 0);
    } else if constexpr (Cost == element_cost::none && stores_in_blocks) {
        constexpr size_t length = 64, rest = Count % length;
        for (size_t first = 0; first != Count - rest; first += length) {
            store_block<length, Cost>(out + first, value, first);
        }
        if constexpr (rest > 0) {
            store_block<rest, Cost>(out + Count - rest, value, Count - rest);
        }
    } else {
        auto* const to = reinterpret_cast<decltype(stored_as<T>(value(size_t{})))*>(out);
        constexpr size_t length = sizeof(T) > 4 ? 8 : 16; // whole vectors
        constexpr size_t rest = Count % length, whole = Count - rest;
        auto const store_whole = [&]() __attribute__((always_inline)) {
            if constexpr (whole <= 16) { // g++ unrolls so short a loop before it looks for vectors
                for_few<whole / length>([&](size_t k) __attribute__((always_inline)) {
                    store_block<length, Cost>(out + k * length, value, k * length);
                });
            } else {
#ifdef __clang__
                constexpr int at_once = whole % (4 * length) == 0   ? 4
                                        : whole % (2 * length) == 0 ? 2
                                                                    : 1;
#pragma clang loop vectorize(assume_safety) interleave_count(at_once)
#else
                CASTNET_IVDEP
#endif
                for (size_t i = 0; i < whole; ++i) {
                    to[i] = stored_as<T>(value(i));
                }
            }
        };
        if constexpr (rest == 0) {
            store_whole();
        } else { // computed first, in whole vectors, too: the loop may write what they read
            computed_block<length, Cost, T, Value> const last{value, Count - length};
            // What the block has read is read anew: g++ would keep it for the loop's first step
            // alone, and makes no vectors of such a loop.
            asm volatile("" ::: "memory");
            store_whole();
            last.store(out + Count - length);
        }
    }
}

// The same of what vectors read at once: kept in registers, where it is cheap to compute. (Of other
// functions clang finds no vectors without a loop.)
template <element_cost Cost, size_t Count, class T, class Value>
CASTNET_ALWAYS_INLINE void store_for_vectors(T* out, Value const& value) {
    constexpr size_t length = 16;
    if constexpr (Cost != element_cost::high && stores_in_blocks && Count <= 4 * length &&
                  Count % length == 0) {
        [&]<size_t... Block>(std::index_sequence<Block...>) __attribute__((always_inline)) {
            (store_block<length, Cost>(out + Block * length, value, Block * length), ...);
        }(std::make_index_sequence<Count / length>{});
    } else {
        store<(Cost == element_cost::none ? element_cost::low : Cost), Count>(out, value);
    }
}

} // namespace castnet::detail
