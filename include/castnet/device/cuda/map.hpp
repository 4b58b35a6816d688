// Fused element-wise programs that store their result at every point.
//
// A thread computes some neighbouring channels at once, with one load for each array where those
// are aligned.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/quotient.hpp>
#include <castnet/device/cuda/row_numbers.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/plan/evaluate.hpp>

#include <type_traits>

namespace castnet::cuda {

template <class T>
inline constexpr int lanes_of = 16 / int(sizeof(T));

// A row's channels in groups of this many, which are aligned in memory if `aligned`.
struct lane_group {
    int lanes;    // that are within the row
    bool aligned; // all lanes are, and every row begins at a multiple of 16 bytes
};

template <class S, int Lanes>
struct alignas(Lanes* int(sizeof(S))) lane_pack {
    S lane[Lanes];
};

// lane[i] = from[i], for elements of type T or bfloat16.
template <class S, class T>
CASTNET_HD void load_lanes(S const* from, lane_group const& g, T* lane) {
    using pack = lane_pack<S, lanes_of<T>>;
    if (g.aligned) {
        pack const all = *reinterpret_cast<pack const*>(from);
        for (int i = 0; i < lanes_of<T>; ++i) {
            lane[i] = T(all.lane[i]);
        }
    } else {
        for (int i = 0; i < lanes_of<T>; ++i) {
            lane[i] = i < g.lanes ? T(from[i]) : T(0);
        }
    }
}

template <class S, class T>
CASTNET_HD void store_lanes(T const* lane, lane_group const& g, S* to) {
    using pack = lane_pack<S, lanes_of<T>>;
    if (g.aligned) {
        pack all;
        for (int i = 0; i < lanes_of<T>; ++i) {
            all.lane[i] = S(lane[i]);
        }
        *reinterpret_cast<pack*>(to) = all;
    } else {
        for (int i = 0; i < lanes_of<T>; ++i) {
            if (i < g.lanes) {
                to[i] = S(lane[i]);
            }
        }
    }
}

// The random words of lanes whose elements lie in one block of four.
struct random_of_block {
    philox_block words;
    template <class T>
    CASTNET_HD std::uint32_t operator()(program_arguments<T> const&, std::uint32_t,
                                        point const& p) const {
        return words[static_cast<unsigned>(p.pixel * p.channels + p.channel) % 4];
    }
};

// registers[lane][instruction] for one instruction.
template <instruction I, int Number, int Registers, class T>
CASTNET_HD void execute_lanes(T (&r)[lanes_of<T>][Registers], program_arguments<T> const& a,
                              point const& p, lane_group const& g) {
    if constexpr (I.code == opcode::load && (I.b & 4) != 0) {
        using stored_type = std::conditional_t<I.c != 0, bfloat16, T>;
        T loaded[lanes_of<T>];
        lane_group const here{g.lanes, g.aligned && (I.b & 8) == 0};
        load_lanes(reinterpret_cast<stored_type const*>(a.array[I.a]) + ir::offset_of_load<I>(a, p),
                   here, loaded);
        for (int i = 0; i < lanes_of<T>; ++i) {
            r[i][Number] = loaded[i];
        }
    } else if constexpr (I.code == opcode::load || I.code == opcode::constant ||
                         I.code == opcode::sample_mask) {
        T const shared = ir::execute<I>(r[0], a, p, random_at_points{});
        for (int i = 0; i < lanes_of<T>; ++i) {
            r[i][Number] = shared;
        }
    } else {
        auto const each = [&](auto const& random) {
            for (int i = 0; i < lanes_of<T>; ++i) {
                point const at{p.sample, p.pixel, p.channel + i, p.pixels, p.channels};
                r[i][Number] = ir::execute<I>(r[i], a, at, random);
            }
        };
        if constexpr (I.code == opcode::bernoulli) {
            auto const first = static_cast<std::uint32_t>(p.pixel * p.channels + p.channel);
            if (g.aligned) {
                each(random_of_block{random_at_points::block(
                    a, static_cast<std::uint32_t>(a.scalar[I.b]), p.sample, first / 4)});
                return;
            }
        }
        each(random_at_points{});
    }
}

template <class S, class T, instruction... I, std::size_t... N>
CASTNET_HD void evaluate_lanes(program<I...>, program_arguments<T> const& a, point const& p,
                               lane_group const& g, S* out, std::index_sequence<N...>) {
    T r[lanes_of<T>][sizeof...(I)];
    (..., execute_lanes<I, int(N)>(r, a, p, g));
    T result[lanes_of<T>];
    for (int i = 0; i < lanes_of<T>; ++i) {
        result[i] = r[i][sizeof...(I) - 2]; // the last instruction says what becomes of it
    }
    store_lanes(result, g, out);
}

template <class Program, class T>
struct map_body {
    using stored_type = std::conditional_t<Program::end.a != 0, bfloat16, T>;

    program_arguments<T> arguments;
    step_values const* now;
    stored_type* out;
    quotient groups, pixels; // of a row; of a sample
    int channels;
    std::ptrdiff_t count; // of groups, in all
    row_numbers rows{};

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        program_arguments<T> a = arguments;
        if constexpr (Program::random_streams > 0) {
            a.step = now->step;
            a.first_sample = now->first_sample;
        }
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            auto const n = static_cast<std::uint32_t>(i);
            std::uint32_t const line = groups.divide(n), row = rows(line);
            auto const channel = static_cast<int>(n - line * groups.divisor) * lanes_of<T>;
            std::uint32_t const sample = pixels.divide(row);
            point const p{sample, row - sample * pixels.divisor, channel, pixels.divisor, channels};
            int const left = channels - channel;
            lane_group const g{left < lanes_of<T> ? left : lanes_of<T>,
                               channels % lanes_of<T> == 0};
            evaluate_lanes(Program{}, a, p, g, out + p.offset(Program::stored),
                           std::make_index_sequence<Program::size + 1>{});
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD program_arguments<typename Context::value_type>
arguments_of(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    program_arguments<T> a{};
    for (int i = 0; i < s.arrays; ++i) {
        array_ref const& r = t.arrays[s.first_array + i];
        std::ptrdiff_t const skipped =
            std::ptrdiff_t{r.first_channel} * int(r.is_bf16 ? sizeof(bfloat16) : sizeof(T));
        a.array[i] = reinterpret_cast<T const*>(reinterpret_cast<char const*>(c.at(r)) + skipped);
        a.row[i] = r.row;
    }
    for (int i = 0; i < s.scalars; ++i) {
        a.scalar[i] = static_cast<T>(t.scalars[s.first_scalar + i]);
    }
    a.key = c.key;
    a.first_stream = static_cast<std::uint32_t>(c.repetition * s.random_streams);
    return a;
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
    std::ptrdiff_t const groups = (channels + lanes_of<T> - 1) / lanes_of<T>;
    std::ptrdiff_t const count = rows.count * groups;
    auto* const out = reinterpret_cast<typename body::stored_type*>(c.at(t.arrays[s.output]));
    c.launch(grid_for(count), body{arguments_of(s, t, c), c.now, out, quotient(groups),
                                   quotient(pixels), int(channels), count, numbers_of(rows)});
}

} // namespace castnet::cuda
