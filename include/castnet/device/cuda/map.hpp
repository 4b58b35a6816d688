// Element-wise kernels: fused programs that store their results at every point.
//
// A thread computes some neighbouring channels at once, with one access to each array, where rows
// consist of such groups; and else one channel.
#pragma once

#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/row_numbers.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/window_tiles.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/plan/evaluate.hpp>

#include <type_traits>

namespace castnet::cuda {

// A point, and the arithmetic of its offsets, in the 32 bits that number all elements of an array.
// It is the first of the lanes of a group, one of the `groups` of its row.
struct lane_point : basic_point<std::uint32_t> {
    std::uint32_t group, groups;

    // The point in arrays whose elements are groups.
    CASTNET_HD basic_point<std::uint32_t> in_groups() const {
        return {sample, pixel, group, pixels, groups};
    }
};

// How many neighbouring channels a thread computes at once: 16 bytes of bfloat16, or of T.
template <class Program, class T>
inline constexpr int lanes_of_program = Program::has_bf16 ? lanes_of<bfloat16> : lanes_of<T>;

// Whether the rows of a space are whole groups of lanes, which are then aligned in memory.
template <class Program, class T>
CASTNET_HD constexpr bool in_lanes(std::ptrdiff_t channels) {
    return channels % lanes_of_program<Program, T> == 0;
}

// The random words of lanes whose elements lie in these blocks of four.
template <int Blocks>
struct random_of_blocks {
    philox_block words[Blocks];
    std::uint32_t first; // element

    template <class T>
    CASTNET_HD std::uint32_t operator()(program_arguments<T> const&, std::uint32_t,
                                        basic_point<std::uint32_t> const& p) const {
        std::uint32_t const element = p.pixel * p.channels + p.channel;
        return words[(element - first) / 4][element % 4];
    }
};

template <instruction I, int Number, int Lanes, int Registers, class T>
CASTNET_HD void dot_lanes(T (&r)[Lanes][Registers], program_arguments<T> const& a,
                          lane_point const& p) {
    auto const units = static_cast<std::uint32_t>(a.row[I.a]);
    using x_type = std::conditional_t<(I.c & 1) != 0, bfloat16, T>;
    using weight_type = std::conditional_t<(I.c & 2) != 0, bfloat16, T>;
    auto const* const x =
        reinterpret_cast<x_type const*>(a.array[I.a]) + (p.sample * p.pixels + p.pixel) * units;
    auto const* const weight =
        reinterpret_cast<weight_type const*>(a.array[I.b]) + p.channel * units;
    CASTNET_UNROLL
    for (int i = 0; i < Lanes; ++i) {
        r[i][Number] = T(0);
    }
    CASTNET_NO_UNROLL
    for (std::uint32_t k = 0; k < units; ++k) {
        T const factor = T(x[k]);
        CASTNET_UNROLL
        for (int i = 0; i < Lanes; ++i) {
            r[i][Number] += factor * T(weight[std::uint32_t(i) * units + k]);
        }
    }
}

// The instructions of a program at neighbouring channels: registers[lane][instruction].
template <instruction I, int Number, int Lanes, int Registers, class T>
CASTNET_HD void execute_lanes(T (&r)[Lanes][Registers], program_arguments<T> const& a,
                              lane_point const& p) {
    auto const each = [&](auto const& random) {
        CASTNET_UNROLL
        for (int i = 0; i < Lanes; ++i) {
            lane_point at = p;
            at.channel += static_cast<std::uint32_t>(i);
            r[i][Number] = ir::execute<I>(r[i], a, at, random);
        }
    };
    // (some channels of a wider array need not be aligned)
    if constexpr (Lanes > 1 && I.code == opcode::load && (I.b & 12) == 4) {
        using stored_type = std::conditional_t<I.c != 0, bfloat16, T>;
        T loaded[Lanes];
        load_lanes(reinterpret_cast<stored_type const*>(a.array[I.a]) +
                       std::size_t(Lanes) * ir::offset_of_load<I>(a, p.in_groups()),
                   loaded);
        CASTNET_UNROLL
        for (int i = 0; i < Lanes; ++i) {
            r[i][Number] = loaded[i];
        }
    } else if constexpr (I.code == opcode::dot) {
        dot_lanes<I, Number>(r, a, p);
    } else if constexpr ((I.code == opcode::load && (I.b & 4) == 0) || I.code == opcode::constant ||
                         I.code == opcode::sample_mask) {
        T const shared = ir::execute<I>(r[0], a, p, random_at_points{});
        CASTNET_UNROLL
        for (int i = 0; i < Lanes; ++i) {
            r[i][Number] = shared;
        }
    } else if constexpr (Lanes > 1 && ir::is_drawn(I)) {
        constexpr int blocks = (Lanes + 3) / 4;
        std::uint32_t const first = p.pixel * p.channels + p.channel;
        random_of_blocks<blocks> random;
        random.first = first / 4 * 4;
        CASTNET_UNROLL
        for (int k = 0; k < blocks; ++k) {
            random.words[k] = random_at_points::block(a, static_cast<std::uint32_t>(a.scalar[I.b]),
                                                      p.sample, first / 4 + std::uint32_t(k));
        }
        each(random);
    } else {
        each(random_at_points{});
    }
}

// Calls f(registers of a lane, number of the lane) where a program has been computed at `Lanes`
// neighbouring channels: one, or an aligned group.
template <int Lanes, class T, instruction... I, std::size_t... N, class F>
CASTNET_HD void evaluate_lanes(program<I...>, program_arguments<T> const& a, lane_point const& p,
                               std::index_sequence<N...>, F const& f) {
    T r[Lanes][sizeof...(I)];
    (..., execute_lanes<I, int(N)>(r, a, p));
    CASTNET_UNROLL
    for (int i = 0; i < Lanes; ++i) {
        f(r[i], i);
    }
}

// Calls f(the number of an end) for all ends of a program, or the first ones, as types: what a
// kernel looked up in a program by a number would be an array in the GPU's memory.
template <class Program, int Count = Program::results, class F>
CASTNET_HD void for_each_end(F const& f) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
        (..., f(std::integral_constant<int, K>{}));
    }(std::make_integer_sequence<int, Count>{});
}

// The address of a result that a program stores, in the type that it is stored in.
template <class Program, std::size_t K, class T>
CASTNET_HD auto* result_of(T* to) {
    using stored_type = std::conditional_t<Program::end_of(int(K)).a != 0, bfloat16, T>;
    return reinterpret_cast<stored_type*>(to);
}

// Where a program stores max pooling's gradient; nothing of others.
struct no_tiles {};
template <class Program>
using tiles_of = std::conditional_t<Program::spreads, window_tiles, no_tiles>;

CASTNET_CALLS_UNCHECKED
template <class Program, class Context>
CASTNET_HD tiles_of<Program> tiles_at(kernel_launch const& s, tables const& t, Context const& c) {
    if constexpr (Program::spreads) {
        window const& w = t.windows[s.window];
        return {w, winners{c.at(t.arrays[s.first_array + s.arrays - 1]), w}, quotient(w.out_width)};
    } else {
        return {};
    }
}

// Stores result K of a program at a point; `row`: array_ref::row of the result.
template <class Program, std::size_t K, class T, int Lanes>
CASTNET_HD void store_result(T const (&value)[Lanes], T* out, lane_point const& p,
                             [[maybe_unused]] tiles_of<Program> const& tiles,
                             [[maybe_unused]] int row = 0) {
    auto* const to = result_of<Program, K>(out);
    constexpr int stored = Program::stored_of(int(K)), step = Program::end_of(int(K)).c;
    if constexpr (step == 3 || step == 4) {
        lane_point other = p;
        other.pixel += step == 3 ? 1U : ~0U;
        if (other.pixel < p.pixels) {
            store_lanes(value, to + std::size_t(Lanes) * other.in_groups().offset(stored));
        }
    } else if constexpr (Program::spreads) {
        tiles.spread(value, p.sample, p.pixel, p.channel,
                     [to](T const(&numbers)[Lanes], std::uint32_t place) {
                         store_lanes(numbers, to + place);
                     });
    } else if constexpr ((stored & 8) != 0) { // which need not be aligned
        CASTNET_UNROLL
        for (int i = 0; i < Lanes; ++i) {
            T const one[1] = {value[i]};
            store_lanes(one, to + ir::offset_in<stored>(p, row) + i);
        }
    } else {
        store_lanes(value, to + std::size_t(Lanes) * p.in_groups().offset(stored));
    }
}

template <class Program, class T>
struct map_body {
    static constexpr int lanes = lanes_of_program<Program, T>;
    static constexpr int results = Program::results;

    program_arguments<T> arguments;
    step_values const* now;
    T* out[results];         // or bfloat16, as the program says
    int out_row[results];    // array_ref::row
    quotient groups, pixels; // of a row: of lanes, or of one channel each; of a sample
    std::uint32_t channels;
    std::uint32_t count; // of groups, in all
    bool in_lanes;
    row_numbers rows{};
    tiles_of<Program> tiles{};

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        program_arguments<T> a = arguments;
        if constexpr (Program::random_streams > 0) {
            a.step = now->step;
            a.first_sample = now->first_sample;
        }
        for_each_index(block, count, [&](std::uint32_t n) {
            std::uint32_t const line = groups.divide(n), row = rows(line);
            std::uint32_t const group = n - line * groups.divisor, sample = pixels.divide(row);
            lane_point p{{sample, row - sample * pixels.divisor, group, pixels.divisor, channels},
                         group,
                         groups.divisor};
            if (in_lanes) {
                p.channel *= lanes;
                store_at<lanes>(a, p);
            } else {
                store_at<1>(a, p);
            }
        });
    }

private:
    template <int Lanes>
    CASTNET_HD void store_at(program_arguments<T> const& a, lane_point const& p) const {
        T value[results][Lanes];
        evaluate_lanes<Lanes>(Program{}, a, p, std::make_index_sequence<Program::length>{},
                              [&](T const* r, int i) {
                                  for_each_end<Program>([&](auto number) {
                                      constexpr int k = decltype(number)::value;
                                      value[k][i] = r[Program::end_of(k).d];
                                  });
                              });
        store_all(value, p, std::make_index_sequence<results>{});
    }
    template <int Lanes, std::size_t... K>
    CASTNET_HD void store_all(T const (&value)[results][Lanes], lane_point const& p,
                              std::index_sequence<K...>) const {
        (..., store_result<Program, K>(value[K], out[K], p, tiles, out_row[K]));
    }
};

// The address of an array, or of the first of its channels in a wider one.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD typename Context::value_type* first_channel_of(array_ref const& r, Context const& c) {
    using T = typename Context::value_type;
    std::ptrdiff_t const skipped =
        std::ptrdiff_t{r.first_channel} * int(r.is_bf16 ? sizeof(bfloat16) : sizeof(T));
    return reinterpret_cast<T*>(reinterpret_cast<char*>(c.at(r)) + skipped);
}

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD program_arguments<typename Context::value_type>
arguments_of(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    program_arguments<T> a{};
    for (int i = 0; i < s.arrays; ++i) {
        array_ref const& r = t.arrays[s.first_array + i];
        a.array[i] = first_channel_of(r, c);
        a.row[i] = r.row > 0 ? r.row : r.size.channels;
    }
    for (int i = 0; i < s.scalars; ++i) {
        a.scalar[i] = static_cast<T>(t.scalars[s.first_scalar + i]);
    }
    a.key = c.key;
    a.first_stream = static_cast<std::uint32_t>(c.repetition * s.random_streams);
    return a;
}

// Whether there are threads for all of a map's elements, so many channels of some rows: in lanes,
// it would take longer, by fewer threads.
template <class Context>
CASTNET_HD bool has_few_elements(std::ptrdiff_t rows, std::ptrdiff_t channels) {
    if constexpr (RunsLoop<Context>) { // known to the compiler
        return Context::most_samples * channels <= block_threads;
    } else if constexpr (requires { Context::few_elements; }) {
        return rows * channels <= Context::few_elements;
    } else {
        return false;
    }
}

CASTNET_CALLS_UNCHECKED
template <class Program, class Context>
CASTNET_HD void map(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    using body = map_body<Program, T>;
    std::ptrdiff_t pixels = s.space.pixels, channels = s.space.channels,
                   samples = s.space.sample ? c.samples : 1;
    pixel_rows rows{samples * pixels, 0, 1};
    if (c.iteration >= 0) {
        rows = rows_of(s.space, c);
    } else if (Program::flat && samples * pixels * channels < (std::ptrdiff_t{1} << 31)) {
        channels *= samples * pixels;
        samples = pixels = rows.count = 1;
    }
    bool const lanes =
        in_lanes<Program, T>(channels) && !has_few_elements<Context>(rows.count, channels);
    std::ptrdiff_t const groups = lanes ? channels / body::lanes : channels;
    std::ptrdiff_t const count = rows.count * groups;
    body b{arguments_of(s, t, c),
           c.now,
           {},
           {},
           quotient(groups),
           quotient(pixels),
           static_cast<std::uint32_t>(channels),
           static_cast<std::uint32_t>(count),
           lanes,
           numbers_of(rows)};
    for (int k = 0; k < body::results; ++k) {
        b.out[k] = first_channel_of(t.arrays[s.output + k], c);
        b.out_row[k] = t.arrays[s.output + k].row;
    }
    b.tiles = tiles_at<Program>(s, t, c);
    c.launch(grid_for(count), b);
}

} // namespace castnet::cuda
