// Reduction kernels: fused programs whose results are reduced on the way.
#pragma once

#include <castnet/device/cuda/map.hpp>
#include <castnet/device/cuda/reduce_body.hpp>
#include <castnet/device/reducer.hpp>

namespace castnet::cuda {

// The values of a program: a result is a point of the axes that are kept, an element one of the
// others. What the program stores besides is stored when the element is taken.
template <class Program, class T>
struct program_source {
    static constexpr bool keep_samples = (Program::end.b & 1) != 0;
    static constexpr bool keep_pixels = (Program::end.b & 2) != 0;
    static constexpr bool keep_channels = (Program::end.b & 4) != 0;
    static constexpr int stores = Program::stores, results = Program::results - stores;
    static constexpr int in_unit = lanes_of_program<Program, T>;
    static constexpr int lanes = keep_channels ? in_unit : 1;
    static constexpr bool may_split =
        static_cast<reduction>(Program::end.a) == reduction::sum && !keep_samples && !keep_pixels;
    static_assert(Program::reduces_alike || (keep_samples && !keep_channels));
    // Elements whose loads are under way at once, where there are lanes.
    static constexpr int at_once = Program::loads_beside(Program::end.b) <= 2 ? 4 : 2;

    program_arguments<T> arguments;
    step_values const* now;
    quotient pixels, units; // of a sample; of a row
    std::uint32_t channels;
    bool in_lanes;
    row_numbers rows;                   // of the results
    T* stored[stores > 0 ? stores : 1]; // or bfloat16, as the program says
    tiles_of<Program> tiles{};

    template <class F>
    CASTNET_HD void visit(std::uint32_t result, F const& f) const {
        program_arguments<T> a = arguments;
        if constexpr (Program::random_streams > 0) {
            a.step = now->step;
            a.first_sample = now->first_sample;
        }
        if (in_lanes) {
            visit_in<in_unit>(a, rows(result), f);
        } else {
            visit_in<1>(a, rows(result), f);
        }
    }

    // By what takes part in all products that are added up to a result.
    CASTNET_HD void scale(std::uint32_t result, T (&times)[results * lanes]) const
        requires may_split
    {
        scale_all(result, times, std::make_integer_sequence<int, results>{});
    }

private:
    // Addend of result k: a register, without a factor that does not vary along what is
    // reduced, whose register is `times`; -1 for none.
    struct addend {
        int of, times = -1;
    };
    CASTNET_HD static constexpr addend addend_of(int k) {
        instruction const end = Program::end_of(stores + k), last = Program::at(end.d);
        if (may_split && last.code == opcode::apply && last.function == fn::multiply &&
            last.derivative < 0) {
            instruction const factor = Program::at(last.b);
            if (factor.code == opcode::load && (factor.b & ~end.b) == 0) {
                return {last.a, last.b};
            }
        }
        return {end.d};
    }
    template <int... K>
    CASTNET_HD void scale_all(std::uint32_t result, T* times,
                              std::integer_sequence<int, K...>) const {
        (..., scale_by<addend_of(K).times>(result, times + K * lanes));
    }
    template <int Factor>
    CASTNET_HD void scale_by(std::uint32_t result, T* times) const {
        if constexpr (Factor >= 0) {
            for (std::uint32_t i = 0; i < lanes && (i == 0 || in_lanes); ++i) {
                std::uint32_t const channel = in_lanes ? result * lanes + i : result;
                basic_point<std::uint32_t> const p{0, 0, channel, 1, 1};
                times[i] *=
                    ir::execute<Program::at(Factor)>(times, arguments, p, random_at_points{});
            }
        }
    }

    template <int Lanes, class F>
    CASTNET_HD void visit_in(program_arguments<T> const& a, std::uint32_t kept, F const& f) const {
        // in lanes, a multiple of their number that the compiler knows
        std::uint32_t const width = Lanes > 1 ? units.divisor * Lanes : channels;
        f(std::integral_constant<int, (Lanes > 1 ? at_once : 1)>{}, [&](std::uint32_t element,
                                                                        auto& parts) {
            std::uint32_t from_kept = kept, from_rest = element;
            std::uint32_t const unit = next<keep_channels>(units, from_kept, from_rest);
            std::uint32_t const pixel = next<keep_pixels>(pixels, from_kept, from_rest);
            std::uint32_t const sample = keep_samples ? from_kept : from_rest;
            lane_point const p{
                {sample, pixel, unit * Lanes, pixels.divisor, width}, unit, units.divisor};
            T value[stores > 0 ? stores : 1][Lanes];
            evaluate_lanes<Lanes>(Program{}, a, p, std::make_index_sequence<Program::length>{},
                                  [&](T const* r, int i) {
                                      for_each_end<Program, stores>([&](auto number) {
                                          constexpr int k = decltype(number)::value;
                                          value[k][i] = r[Program::end_of(k).d];
                                      });
                                      take(r, i, static_cast<std::ptrdiff_t>(p.channel) + i, parts);
                                  });
            store_all(value, p, std::make_index_sequence<std::size_t(stores)>{});
        });
    }
    template <class Parts>
    CASTNET_HD static void take(T const* r, int lane, std::ptrdiff_t channel, Parts& parts) {
        if constexpr (Program::reduces_alike) {
            for_each_end<Program, results>([&](auto number) {
                constexpr int k = decltype(number)::value, from = addend_of(k).of;
                parts[k * lanes + (keep_channels ? lane : 0)].take(r[from], channel);
            });
        } else {
            parts[0].each([&](auto number, auto& one) {
                constexpr instruction end = Program::end_of(stores + decltype(number)::value);
                one.take(r[end.d], channel);
            });
        }
    }
    template <class Values, std::size_t... K>
    CASTNET_HD void store_all([[maybe_unused]] Values const& value,
                              [[maybe_unused]] lane_point const& p,
                              std::index_sequence<K...>) const {
        (..., store_result<Program, K>(value[K], stored[K], p, tiles));
    }

    // The place along an axis, of a number that runs over it and others outside of it.
    template <bool Kept>
    CASTNET_HD static std::uint32_t next(quotient const& axis, std::uint32_t& kept,
                                         std::uint32_t& rest) {
        std::uint32_t& from = Kept ? kept : rest;
        std::uint32_t const outer = axis.divide(from), place = from - outer * axis.divisor;
        from = outer;
        return place;
    }
};

// The reducer of all results, or a bundle of different ones.
template <class Program, class T, int... K>
auto reducer_of(std::integer_sequence<int, K...>) {
    if constexpr (Program::reduces_alike) {
        return reducer<static_cast<reduction>(Program::end.a), T>{};
    } else {
        return reducer_bundle<T, std::integer_sequence<int, K...>,
                              static_cast<reduction>(Program::end_of(Program::stores + K).a)...>{};
    }
}

// To the results of the launch, one for each store or reduction that ends the program.
CASTNET_CALLS_UNCHECKED
template <class Program, class Context>
CASTNET_HD void reduce(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    using source = program_source<Program, T>;
    using numbers = std::make_integer_sequence<int, source::results>;
    using body = reduce_body<source, decltype(reducer_of<Program, T>(numbers{})), T>;
    std::ptrdiff_t const samples = s.space.sample ? c.samples : 1;
    bool const lanes = in_lanes<Program, T>(s.space.channels);
    std::ptrdiff_t const units = s.space.channels / (lanes ? source::in_unit : 1),
                         all = samples * s.space.pixels * units;
    // in a loop, samples and pixels are kept, and channels are not
    bool const loops = c.iteration >= 0;
    pixel_rows const one{1, 0, 1}, rows = loops ? rows_of(s.space, c) : one,
                                   to = loops ? rows_of(t.arrays[s.output].size, c) : one;
    std::ptrdiff_t const results = loops ? rows.count
                                         : (source::keep_samples ? samples : 1) *
                                               (source::keep_pixels ? s.space.pixels : 1) *
                                               (source::keep_channels ? units : 1);
    std::ptrdiff_t const elements = loops ? units : all / results;
    reduce_shape const shape = shape_reduction(results, elements, source::keep_channels,
                                               most_splits<source>(results, c.parts.elements));
    body b{{arguments_of(s, t, c),
            c.now,
            quotient(s.space.pixels),
            quotient(units),
            static_cast<std::uint32_t>(s.space.channels),
            lanes,
            numbers_of(rows),
            {},
            tiles_at<Program>(s, t, c)},
           shape,
           quotient(shape.groups()),
           static_cast<T>(s.factor),
           {}};
    for (int k = 0; k < source::stores; ++k) {
        b.source.stored[k] = c.at(t.arrays[s.output + k]);
    }
    for (int k = 0; k < body::arrays; ++k) {
        b.out[k] = c.at(t.arrays[s.output + source::stores + k]);
    }
    b.rows = numbers_of(to);
    b.parts = c.parts;
    c.launch({shape.groups() * shape.splits, block_threads, body::shared_bytes}, b);
}

} // namespace castnet::cuda
