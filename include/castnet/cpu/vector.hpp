// SIMD vector types of the compiler, as wide as the target's registers.
#pragma once

#include <castnet/core/target.hpp>

#include <cstddef>

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

} // namespace castnet::cpu::inline CASTNET_TARGET
