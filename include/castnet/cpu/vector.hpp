// SIMD vector types of the compiler, as wide as the target's registers.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/target.hpp>

#include <cstddef>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int vector_registers = 16;
#elif defined(__ARM_NEON)
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 16;
#endif

template <class T, int Lanes>
struct vector_of {
    // aligned like one element: rows of matrices start anywhere
    typedef T type __attribute__((vector_size(Lanes * sizeof(T)), aligned(alignof(T)), may_alias));
};

template <class T>
struct simd {
    static constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
    using type = typename vector_of<T, width>::type;
};

template <class T>
using vec = typename simd<T>::type;

// a * b + c, rounded once where the target can. clang makes that of the sum as written; g++, where
// it tunes for some processors (AMD's Zen 2 and 3), in some loops only, so that results would
// depend on the loop, and so on the thread's part, that computes them.
template <class V>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline V multiply_add(V a, V b, V c) {
#if defined(__FMA__) && !defined(__clang__)
    constexpr bool is_float = std::is_same_v<std::remove_reference_t<decltype(c[0])>, float>;
#ifdef __AVX512F__
    if constexpr (sizeof(V) == 64) {
        constexpr int as_set = 4; // rounding: that of the thread
        if constexpr (is_float) {
            return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, as_set);
        } else {
            return __builtin_ia32_vfmaddpd512_mask(a, b, c, 0xFF, as_set);
        }
    } else
#endif
        if constexpr (sizeof(V) == 32) {
        if constexpr (is_float) {
            return __builtin_ia32_vfmaddps256(a, b, c);
        } else {
            return __builtin_ia32_vfmaddpd256(a, b, c);
        }
    } else if constexpr (sizeof(V) == 16) {
        if constexpr (is_float) {
            return __builtin_ia32_vfmaddps(a, b, c);
        } else {
            return __builtin_ia32_vfmaddpd(a, b, c);
        }
    } else
#endif
    {
        return a * b + c;
    }
}
// The same with a number that all lanes share.
template <class V>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline V
multiply_add(std::remove_reference_t<decltype(V{}[0])> a, V b, V c) {
    return multiply_add(a - V{}, b, c);
}
// sum + left * right for a tile of Rows numbers times Vectors. In loops g++ moves the results of
// the builtin functions above from register to register, so this is the instruction itself; but not
// where a factor is used once, which those functions read from memory: a vector, or with AVX-512 a
// number, too.
template <int Rows, int Vectors, class V>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline V
plus_product(V sum, std::remove_reference_t<decltype(V{}[0])> left, V right) {
#if defined(__FMA__) && !defined(__clang__)
    if constexpr (Rows > 1 && (Vectors > 1 || vector_registers < 32)) {
        V const in_all_lanes = left - V{};
        if constexpr (sizeof(left) == sizeof(float)) {
            asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(in_all_lanes), "v"(right));
        } else {
            asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(in_all_lanes), "v"(right));
        }
        return sum;
    }
#elif defined(__SSE2__) && !defined(__AVX__) && !defined(__clang__)
    if constexpr (Rows > 1) { // in loops, g++ adds to the products, and moves the sums back
        V const product = (left - V{}) * right;
        if constexpr (sizeof(left) == sizeof(float)) {
            asm("addps %1, %0" : "+x"(sum) : "x"(product));
        } else {
            asm("addpd %1, %0" : "+x"(sum) : "x"(product));
        }
        return sum;
    }
#endif
    return multiply_add(left, right, sum);
}

} // namespace castnet::cpu::inline CASTNET_TARGET
