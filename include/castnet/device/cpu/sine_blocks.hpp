// Programs with sines and cosines, instruction by instruction for a block of points. Point by point
// they would stay scalar, since large arguments branch to the C library's functions.
#pragma once

#include <castnet/core/sine.hpp>
#include <castnet/plan/evaluate.hpp>

#include <cstddef>
#include <utility>

namespace castnet::ir {

constexpr bool is_sine_or_cosine(instruction const& i) {
    return i.code == opcode::apply && (i.function == fn::sin || i.function == fn::cos);
}
template <class Program>
inline constexpr bool has_sines = false;
template <instruction... I>
inline constexpr bool has_sines<program<I...>> = (is_sine_or_cosine(I) || ...);

inline namespace CASTNET_VECTORS {

// A sine or cosine of few turns, or its derivative times the gradient that arrives.
template <instruction I, class T>
CASTNET_ALWAYS_INLINE T sine_or_cosine(T x, [[maybe_unused]] T gradient) {
    constexpr bool sine = I.function == fn::sin;
    if constexpr (I.derivative < 0) {
        return sine ? elementary::sine_of_few_turns(x) : elementary::cosine_of_few_turns(x);
    } else {
        return gradient *
               (sine ? elementary::cosine_of_few_turns(x) : -elementary::sine_of_few_turns(x));
    }
}

template <size_t Count, class T>
CASTNET_ALWAYS_INLINE bool are_few_turns(T const* x) {
    using bits = elementary::float_bits<T>;
    constexpr auto limit = bits::of(elementary::few_turns<T>);
    typename bits::type beyond = 0; // its first bit (compilers do not take a bool in vectors)
    for (size_t i = 0; i != Count; ++i) {
        beyond |= limit - (bits::of(x[i]) & ~bits::sign);
    }
    return (beyond & bits::sign) == 0;
}

inline void keep_in_memory(void* values) {
    asm volatile("" : : "r"(values) : "memory");
}

// Instruction N at the points of a block, whose registers before are known. Its results are in
// memory before the next one reads them: compilers would join a product and a sum in blocks of one
// size and not in others, and bits would depend on where a point lies.
template <instruction I, size_t N, size_t Count, class T, class Points>
CASTNET_ALWAYS_INLINE void execute_block(T (*registers)[Count], program_arguments<T> const& a,
                                         Points const& point_at) {
    if constexpr (is_sine_or_cosine(I)) {
        T const* const x = registers[I.a];
        if (are_few_turns<Count>(x)) {
            T const* const gradient = I.derivative < 0 ? x : registers[I.c];
            for (size_t i = 0; i != Count; ++i) {
                registers[N][i] = sine_or_cosine<I>(x[i], gradient[i]);
            }
            return;
        }
    }
    CASTNET_IVDEP
    for (size_t i = 0; i != Count; ++i) {
        T of_point[N + 1];
        for (size_t k = 0; k != N; ++k) {
            of_point[k] = registers[k][i];
        }
        registers[N][i] = execute<I>(of_point, a, point_at(i), random_at_points{});
    }
}

// The values of the program's last register at Count points.
template <size_t Count, class T, class Points, instruction... I, size_t... N>
CASTNET_ALWAYS_INLINE void evaluate_block(program<I...>, program_arguments<T> const& a,
                                          Points const& point_at, T* values,
                                          std::index_sequence<N...>) {
    constexpr size_t size = program<I...>::size;
    constexpr instruction code[] = {I...};
    T registers[size][Count];
    (..., (execute_block<code[N], N, Count>(registers, a, point_at), keep_in_memory(registers)));
    for (size_t i = 0; i != Count; ++i) {
        values[i] = registers[size - 1][i];
    }
}
template <class Program, size_t Count, class T, class Points>
CASTNET_ALWAYS_INLINE void evaluate_block(program_arguments<T> const& a, Points const& point_at,
                                          T* values) {
    evaluate_block<Count>(Program{}, a, point_at, values,
                          std::make_index_sequence<Program::size>{});
}

} // namespace CASTNET_VECTORS
} // namespace castnet::ir
