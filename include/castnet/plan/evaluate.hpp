// Evaluation of a fused program at one point of its index space: the body of every element-wise
// kernel, on every device.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/core/select.hpp>
#include <castnet/core/standard_normal.hpp>
#include <castnet/core/target.hpp>
#include <castnet/expr/expr.hpp>
#include <castnet/plan/instruction.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace castnet::ir {

// Arguments of a program besides the point. Small and trivially copyable: a kernel argument.
template <class T>
struct program_arguments {
    T const* array[max_arrays];
    T scalar[max_scalars];
    int row[max_arrays]; // channels of an array; where it is some of a wider one, those there
    int result_row;      // the same of the result
    philox_key key;      // of the random numbers
    std::uint32_t step;
    std::uint32_t first_sample; // of this replica in the global batch
    std::uint32_t first_stream; // of the random numbers of this repetition of a block
};

// A point, with the offsets that arrays have there.
template <class Index>
struct basic_point {
    Index sample, pixel, channel;
    Index pixels, channels; // extents of the space

    CASTNET_HD constexpr Index offset(int variation) const {
        switch (variation) {
        case 0:
            return 0;
        case 1:
            return sample;
        case 2:
            return pixel;
        case 3:
            return sample * pixels + pixel;
        case 4:
            return channel;
        case 5:
            return sample * channels + channel;
        case 6:
            return pixel * channels + channel;
        default:
            return (sample * pixels + pixel) * channels + channel;
        }
    }
};

using point = basic_point<std::ptrdiff_t>;

// Where programs take their random words from: the word of this stream and point. A kernel that
// draws those of many points at once gives something else that returns the same.
struct random_at_points {
    template <class T, class Index>
    CASTNET_HD constexpr std::uint32_t operator()(program_arguments<T> const& a,
                                                  std::uint32_t stream,
                                                  basic_point<Index> const& p) const {
        auto const element = static_cast<std::uint32_t>(p.pixel * p.channels + p.channel);
        return block(a, stream, p.sample, element / 4)[element % 4];
    }

    // The words of elements 4 * number to 4 * number + 3 of a sample. Of `a`, any type with the
    // members that are read here.
    template <class Arguments>
    CASTNET_HD static constexpr philox_block block(Arguments const& a, std::uint32_t stream,
                                                   std::ptrdiff_t sample, std::uint32_t number) {
        return philox({number, a.first_sample + static_cast<std::uint32_t>(sample),
                       a.first_stream + stream, a.step},
                      a.key);
    }
};

template <class T>
CASTNET_HD constexpr T read_register(T const* reg, int which) {
    return which == no_register ? T(0) : reg[which];
}

// The place of a point in an array that varies so (opcode::load); `row`: the channels of a wider
// array that it is a part of.
template <int Variation, class Index>
CASTNET_HD constexpr Index offset_in(basic_point<Index> const& p, int row) {
    if constexpr ((Variation & 8) != 0) {
        Index const sample = (Variation & 1) != 0 ? p.sample : 0;
        Index const line = (Variation & 2) != 0 ? sample * p.pixels + p.pixel : sample;
        return line * static_cast<Index>(row) + ((Variation & 4) != 0 ? p.channel : 0);
    } else {
        return p.offset(Variation);
    }
}
template <instruction I, class T, class Index>
CASTNET_HD constexpr Index offset_of_load(program_arguments<T> const& a,
                                          basic_point<Index> const& p) {
    return offset_in<I.b>(p, a.row[I.a]);
}

// Evaluation of functions, whose code depends on the processor's vectors.
inline namespace CASTNET_VECTORS {

template <instruction I, class T, size_t... K>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T apply_function(T const* r, std::index_sequence<K...>) {
    constexpr std::uint8_t in[] = {I.a, I.b, I.c, I.d, I.e, I.f, I.g, I.h};
    if constexpr (I.derivative < 0) {
        return function<I.function>::value(read_register(r, in[K])...);
    } else {
        return r[in[sizeof...(K) + 1]] *
               function<I.function>::template derivative<I.derivative>(
                   read_register(r, in[K])..., read_register(r, in[sizeof...(K)]));
    }
}

template <instruction I, class T, class Index, class Random>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T execute(T const* r, program_arguments<T> const& a,
                                                     basic_point<Index> const& p,
                                                     Random const& random) {
    if constexpr (I.code == opcode::load) {
        if constexpr (I.c != 0) {
            return T(reinterpret_cast<bfloat16 const*>(a.array[I.a])[offset_of_load<I>(a, p)]);
        } else {
            return a.array[I.a][offset_of_load<I>(a, p)];
        }
    } else if constexpr (I.code == opcode::constant) {
        return a.scalar[I.a];
    } else if constexpr (I.code == opcode::index) {
        // Vectors before AVX-512 convert no integers of 64 bits, and the loop would stay scalar.
        return static_cast<T>(static_cast<std::int32_t>(p.channel));
    } else if constexpr (I.code == opcode::sample_mask) {
        return a.array[I.a][p.sample] * a.scalar[I.b];
    } else if constexpr (I.code == opcode::bernoulli) {
        std::uint32_t const word = random(a, static_cast<std::uint32_t>(a.scalar[I.b]), p);
        return select(uniform<T>(word) < a.scalar[I.a], T(1) / a.scalar[I.a], T(0));
    } else if constexpr (I.code == opcode::normal) {
        return elementary::standard_normal<T>(
            random(a, static_cast<std::uint32_t>(a.scalar[I.b]), p));
    } else if constexpr (I.code == opcode::store || I.code == opcode::reduce) {
        return T(0);
    } else {
        return apply_function<I>(r, std::make_index_sequence<function<I.function>::arity>{});
    }
}

template <class T, class Index, class Random, instruction... I, size_t... N>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T
run_program(program<I...>, program_arguments<T> const& a, basic_point<Index> const& p,
            Random const& random, std::index_sequence<N...>) {
    T r[sizeof...(I)]{};
    (..., void(r[N] = execute<I>(r, a, p, random)));
    return r[sizeof...(I) - 2]; // the last instruction says what becomes of it
}

// The value of the program's last register at this point.
template <class Program, class T, class Index, class Random = random_at_points>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T
evaluate(program_arguments<T> const& a, basic_point<Index> const& p, Random const& random = {}) {
    return run_program(Program{}, a, p, random, std::make_index_sequence<Program::size + 1>{});
}

// The same at the channel that lies `after` this point's, in loops that are to be vectorised.
template <class Program, class T, class... Random>
CASTNET_ALWAYS_INLINE T evaluate_channel(program_arguments<T> const& a, point const& p,
                                         std::ptrdiff_t after, Random const&... random) {
    return evaluate<Program>(a, point{p.sample, p.pixel, p.channel + after, p.pixels, p.channels},
                             random...);
}

} // namespace CASTNET_VECTORS
} // namespace castnet::ir
