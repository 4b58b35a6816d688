// Operations that only move elements: reshape between orders in memory, concatenate, slice,
// reverse. A thread moves one element of the result, or some neighbouring channels.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/row_numbers.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/quotient.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace castnet::cuda {

// The logical order of an image is channels x pixels; in memory its channels lie innermost.
template <class T>
struct reshape_body {
    stored<T> from, to;
    quotient from_pixels, to_channels;
    int from_channels, to_pixels;
    bool image_from, image_to;
    quotient sample; // elements of a sample
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const begin =
                sample.divide(static_cast<std::uint32_t>(i)) * sample.divisor;
            std::uint32_t place = static_cast<std::uint32_t>(i) - begin;
            if (image_to) { // from the place in memory to the logical number
                std::uint32_t const pixel = to_channels.divide(place);
                place =
                    (place - pixel * to_channels.divisor) * static_cast<std::uint32_t>(to_pixels) +
                    pixel;
            }
            if (image_from) { // and from that to a place in memory
                std::uint32_t const channel = from_pixels.divide(place);
                place = (place - channel * from_pixels.divisor) *
                            static_cast<std::uint32_t>(from_channels) +
                        channel;
            }
            to[i] = from.get(begin + place);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void reshape(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const count = (to.size.sample ? c.samples : 1) * to.size.count();
    c.launch(grid_for(count),
             reshape_body<T>{stored_at(c, from), stored_at(c, to), quotient(from.size.pixels),
                             quotient(to.size.channels), from.size.channels, to.size.pixels,
                             !from.size.in_logical_order(), !to.size.in_logical_order(),
                             quotient(to.size.count()), count});
}

// How many neighbouring channels a thread moves at once: 16 bytes of bfloat16, where all that
// counts channels is a multiple of them; but one within a loop, whose steps are small.
inline constexpr int moved_lanes = lanes_of<bfloat16>;
template <class Context>
CASTNET_HD bool moves_lanes(Context const& c, int all_counts) { // bits of any
    if constexpr (RunsLoop<Context>) {
        return false;
    } else {
        return c.iteration < 0 && all_counts % moved_lanes == 0;
    }
}
// Calls f(how many channels, i) for this thread's i in [0, count).
template <class Block, class F>
CASTNET_HD void for_each_moved(Block const& block, std::ptrdiff_t count, bool in_lanes,
                               F const& f) {
    for_each_index(block, count, [&](std::uint32_t i) {
        if (in_lanes) {
            f(std::integral_constant<int, moved_lanes>{}, i);
        } else {
            f(std::integral_constant<int, 1>{}, i);
        }
    });
}

// Channels [begin, begin + to_channels) of the rows of `from`, as rows of `to`.
template <class T>
struct copy_channels_body {
    stored<T> from, to;
    int from_channels, begin, to_channels;
    row_numbers from_rows{}, to_rows{};
    bool in_lanes = false;
    quotient width{}; // in lanes or channels, as is the count
    std::ptrdiff_t count = 0;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_moved(block, count, in_lanes,
                       [&]<int Lanes>(std::integral_constant<int, Lanes>, std::uint32_t i) {
                           std::uint32_t const line = width.divide(i),
                                               channel = (i - line * width.divisor) * Lanes;
                           T lane[Lanes];
                           from.load(from_rows(line) * unsigned(from_channels) + unsigned(begin) +
                                         channel,
                                     lane);
                           to.store(lane, to_rows(line) * unsigned(to_channels) + channel);
                       });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context, class T>
CASTNET_HD void copy_channels(Context const& c, copy_channels_body<T> b, std::ptrdiff_t rows) {
    b.in_lanes = moves_lanes(c, b.from_channels | b.begin | b.to_channels);
    int const groups = b.in_lanes ? b.to_channels / moved_lanes : b.to_channels;
    b.width = quotient(groups);
    b.count = rows * groups;
    c.launch(grid_for(b.count), b);
}

// The channels of several arrays beside each other, as rows of `to`. Those that are there already
// are no part.
template <class T>
struct concat_body {
    struct part {
        stored<T> from;
        std::uint32_t row = 0, begin = 0; // elements from row to row; the first channel there
        std::uint32_t to = 0;             // and in the result
        std::uint32_t end = 0;            // of what is moved: the last of its channels
        row_numbers rows{};
    };
    part parts[max_operands];
    stored<T> to;
    std::uint32_t to_channels;
    bool in_lanes;
    quotient width; // what is moved of a row, in lanes or channels, as is the count
    std::ptrdiff_t count;
    row_numbers to_rows;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_moved(
            block, count, in_lanes,
            [&]<int Lanes>(std::integral_constant<int, Lanes>, std::uint32_t i) {
                std::uint32_t const line = width.divide(i),
                                    channel = (i - line * width.divisor) * Lanes;
                part mine;
                std::uint32_t begin = 0;
                CASTNET_UNROLL
                for (int k = max_operands - 1; k >= 0; --k) { // the first one that ends after it
                    if (channel < parts[k].end) {
                        mine = parts[k];
                        begin = k > 0 ? parts[k - 1].end : 0;
                    }
                }
                T lane[Lanes];
                mine.from.load(mine.rows(line) * mine.row + mine.begin + channel - begin, lane);
                to.store(lane, to_rows(line) * to_channels + mine.to + channel - begin);
            });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void concat(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c);
    concat_body<T> b{{}, stored_at(c, to), unsigned(to.size.channels), false, {},
                     0,  numbers_of(rows)};
    int first = 0, moved = 0, all_counts = to.size.channels;
    CASTNET_UNROLL
    for (int i = 0; i < max_operands; ++i) {
        if (i < s.arrays) {
            array_ref const& from = t.arrays[s.first_array + i];
            bool const in_place = from.row == to.size.channels && from.first_channel == first &&
                                  from.where == to.where && from.offset == to.offset;
            moved += in_place ? 0 : from.size.channels;
            all_counts |= first | from.size.channels | from.row_channels() | from.first_channel;
            b.parts[i] = {stored_at(c, from),
                          unsigned(from.row_channels()),
                          unsigned(from.first_channel),
                          unsigned(first),
                          unsigned(moved),
                          numbers_of(rows_of(from.size, c))};
            first += from.size.channels;
        } else {
            b.parts[i].end = unsigned(moved);
        }
    }
    if (moved > 0) {
        b.in_lanes = moves_lanes(c, all_counts);
        int const groups = b.in_lanes ? moved / moved_lanes : moved;
        b.width = quotient(groups);
        b.count = rows.count * groups;
        c.launch(grid_for(b.count), b);
    }
}

// The channels from the attribute on, as many as the result has.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void slice(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c);
    copy_channels(c,
                  copy_channels_body<T>{stored_at(c, from), stored_at(c, to), from.row_channels(),
                                        s.attribute, to.size.channels,
                                        numbers_of(rows_of(from.size, c)), numbers_of(rows)},
                  rows.count);
}

// The gradient by the operand of a slice: 0 for all other channels.
template <class T>
struct slice_gradient_body {
    stored<T> from, to;
    int from_channels, first;
    quotient to_channels;
    std::ptrdiff_t count;
    row_numbers from_rows{}, to_rows{};

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const line = to_channels.divide(static_cast<std::uint32_t>(i)),
                                place = static_cast<std::uint32_t>(i) - line * to_channels.divisor;
            int const channel = static_cast<int>(place) - first;
            bool const inside = channel >= 0 && channel < from_channels;
            to[std::ptrdiff_t{to_rows(line)} * to_channels.divisor + place] =
                inside ? from.get(std::ptrdiff_t{from_rows(line)} * from_channels + channel) : T(0);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void slice_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c);
    std::ptrdiff_t const count = rows.count * to.size.channels;
    c.launch(grid_for(count),
             slice_gradient_body<T>{stored_at(c, from), stored_at(c, to), from.size.channels,
                                    s.attribute, quotient(to.size.channels), count,
                                    numbers_of(rows_of(from.size, c)), numbers_of(rows)});
}

// Groups of neighbouring channels in reverse order; the attribute says how many are a group.
template <class T>
struct reverse_body {
    stored<T> from, to;
    quotient width, group;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const begin = width.divide(static_cast<std::uint32_t>(i)) * width.divisor,
                                channel = static_cast<std::uint32_t>(i) - begin,
                                in_group = group.remainder(channel);
            to[i] = from.get(std::ptrdiff_t{begin} + width.divisor - group.divisor - channel +
                             2 * in_group);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void reverse(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const count = c.samples * to.size.count();
    c.launch(grid_for(count),
             reverse_body<T>{stored_at(c, t.arrays[s.first_array]), stored_at(c, to),
                             quotient(to.size.channels), quotient(s.attribute), count});
}

template <class Context>
struct kernel_for<Context, op::concat> : function_kernel<Context, &concat<Context>> {};
template <class Context>
struct kernel_for<Context, op::slice> : function_kernel<Context, &slice<Context>> {};
template <class Context>
struct kernel_for<Context, op::slice_gradient>
    : function_kernel<Context, &slice_gradient<Context>> {};
template <class Context>
struct kernel_for<Context, op::reverse> : function_kernel<Context, &reverse<Context>> {};
template <class Context>
struct kernel_for<Context, op::reshape> : function_kernel<Context, &reshape<Context>> {};

} // namespace castnet::cuda
