// Rows of a table: gathered by ids, and the sums of their gradients.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/rearrange.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/device/cuda/warp.hpp>
#include <castnet/device/quotient.hpp>

#include <cstdint>

namespace castnet::cuda {

// A thread moves some neighbouring elements, or one.
template <class T>
struct gather_rows_body {
    stored<T> table, ids, to;
    bool in_lanes;
    quotient columns; // in lanes or elements, as is the count
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_moved(block, count, in_lanes,
                       [&]<int Lanes>(std::integral_constant<int, Lanes>, std::uint32_t i) {
                           std::uint32_t const position = columns.divide(i),
                                               column = i - position * columns.divisor,
                                               row = static_cast<std::uint32_t>(ids.get(position));
                           T lane[Lanes];
                           table.load((row * columns.divisor + column) * Lanes, lane);
                           to.store(lane, i * Lanes);
                       });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void gather_rows(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    bool const in_lanes = moves_lanes(c, to.size.channels);
    int const columns = in_lanes ? to.size.channels / moved_lanes : to.size.channels;
    std::ptrdiff_t const count = c.samples * to.size.pixels * columns;
    c.launch(grid_for(count),
             gather_rows_body<T>{stored_at(c, t.arrays[s.first_array]),
                                 stored_at(c, t.arrays[s.first_array + 1]), stored_at(c, to),
                                 in_lanes, quotient(columns), count});
}

template <class T>
struct clear_body {
    T* to;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) { to[i] = T(0); });
    }
};

// The block of the first position of an id adds up its row, in the order of the positions; those of
// later ones see that they are not the first. Bits mark the positions of some that have the id.
template <class T>
struct scatter_rows_body {
    static constexpr unsigned marks = 8, words = marks * block_threads / 32;
    // Columns that a thread adds up; positions whose elements it reads at once.
    static constexpr unsigned columns_at_once = 2, at_once = 8;

    stored<T> ids, from;
    T* to;
    std::uint32_t columns, count; // count: of positions
    T left_out;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for (std::uint32_t mine = block.index(); mine < count; mine += block.blocks()) {
            T const id = ids.get(mine);
            std::uint32_t const step = columns_at_once * block.threads();
            for (std::uint32_t first = 0; id != left_out && first < columns; first += step) {
                add_columns(block, mine, id, first + block.thread());
            }
        }
    }

private:
    template <class Block>
    CASTNET_HD void add_columns(Block const& block, std::uint32_t mine, T id,
                                std::uint32_t column) const {
        T sum[columns_at_once] = {};
        for (std::uint32_t begin = 0; begin < count; begin += words * 32) {
            std::uint32_t const* const marked = mark(block, id, begin);
            std::uint32_t word = 0, rest = marked[0];
            auto const next = [&] { // `count` after the last
                while (rest == 0) {
                    if (++word == words) {
                        word = words - 1; // (of which nothing is left)
                        return count;
                    }
                    rest = marked[word];
                }
                auto const position = begin + word * 32 + lowest_bit(rest);
                rest &= rest - 1;
                return position;
            };
            for (std::uint32_t position = next(); position < count;) {
                if (position < mine) {
                    return;
                }
                T value[at_once][columns_at_once];
                CASTNET_UNROLL
                for (unsigned n = 0; n < at_once; ++n) {
                    read(position, column, value[n]);
                    position = position < count ? next() : count;
                }
                CASTNET_UNROLL
                for (unsigned n = 0; n < at_once; ++n) {
                    CASTNET_UNROLL
                    for (unsigned k = 0; k < columns_at_once; ++k) {
                        sum[k] += value[n][k];
                    }
                }
            }
        }
        CASTNET_UNROLL
        for (unsigned k = 0; k < columns_at_once; ++k) {
            if (std::uint32_t const at = column + k * block.threads(); at < columns) {
                to[static_cast<std::ptrdiff_t>(id) * std::ptrdiff_t{columns} + at] = sum[k];
            }
        }
    }

    // Which of the positions from `begin` on have this id.
    template <class Block>
    CASTNET_HD std::uint32_t const* mark(Block const& block, T id, std::uint32_t begin) const {
        auto* const marked = block.template shared<std::uint32_t>();
        block.sync(); // others have read what was marked before
        CASTNET_UNROLL
        for (unsigned k = 0; k < marks; ++k) {
            std::uint32_t const i = k * block_threads + block.thread();
            std::uint32_t const bits = ballot(block, begin + i < count && ids.get(begin + i) == id);
            if (i % 32 == 0) {
                marked[i / 32] = bits;
            }
        }
        block.sync();
        return marked;
    }

    // Zeros after the last position.
    CASTNET_HD void read(std::uint32_t position, std::uint32_t column,
                         T (&value)[columns_at_once]) const {
        CASTNET_UNROLL
        for (unsigned k = 0; k < columns_at_once; ++k) {
            std::uint32_t const at = column + k * block_threads;
            value[k] = position < count && at < columns
                           ? from.get(std::ptrdiff_t{position} * std::ptrdiff_t{columns} + at)
                           : T(0);
        }
    }

    CASTNET_HD static std::uint32_t lowest_bit(std::uint32_t x) {
#ifdef __CUDA_ARCH__
        return static_cast<std::uint32_t>(__ffs(static_cast<int>(x))) - 1;
#else
        return static_cast<std::uint32_t>(__builtin_ctz(x));
#endif
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void scatter_rows(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array + 1], &to = t.arrays[s.output];
    std::ptrdiff_t const positions = c.samples * from.size.pixels;
    c.launch(grid_for(to.size.count()), clear_body<T>{c.at(to), to.size.count()});
    grid where = grid_for(positions * block_threads);
    where.shared_bytes = scatter_rows_body<T>::words * sizeof(std::uint32_t);
    c.launch(where, scatter_rows_body<T>{stored_at(c, t.arrays[s.first_array]), stored_at(c, from),
                                         c.at(to), static_cast<std::uint32_t>(from.size.channels),
                                         static_cast<std::uint32_t>(positions),
                                         static_cast<T>(s.attribute)});
}

template <class Context>
struct kernel_for<Context, op::gather_rows> : function_kernel<Context, &gather_rows<Context>> {};
template <class Context>
struct kernel_for<Context, op::scatter_rows> : function_kernel<Context, &scatter_rows<Context>> {};

} // namespace castnet::cuda
