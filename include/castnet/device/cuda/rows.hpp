// Rows of a table: gathered by ids, and the sums of their gradients.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/quotient.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/cuda/tuning.hpp>

#include <cstdint>

namespace castnet::cuda {

// A thread moves one element.
template <class T>
struct gather_rows_body {
    stored<T> table, ids, to;
    quotient columns;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const position = columns.divide(static_cast<std::uint32_t>(i)),
                                column = static_cast<std::uint32_t>(i) - position * columns.divisor;
            auto const row = static_cast<std::ptrdiff_t>(ids.get(position));
            to[i] = table.get(row * std::ptrdiff_t{columns.divisor} + column);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void gather_rows(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const count = c.samples * to.size.count();
    c.launch(grid_for(count),
             gather_rows_body<T>{stored_at(c, t.arrays[s.first_array]),
                                 stored_at(c, t.arrays[s.first_array + 1]), stored_at(c, to),
                                 quotient(to.size.channels), count});
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

// The block of the first position of an id adds up its row; those of later ones see that they are
// not the first. A thread marks 32 neighbouring positions with this id at a time.
template <class T>
struct scatter_rows_body {
    static constexpr std::ptrdiff_t marks = 32;

    stored<T> ids, from;
    T* to;
    std::ptrdiff_t columns, count; // count: of positions
    T left_out;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for (std::ptrdiff_t mine = block.index(); mine < count; mine += block.blocks()) {
            if (T const id = ids.get(mine); id != left_out) {
                add_row(block, mine, id);
            }
        }
    }

private:
    template <class Block>
    CASTNET_HD void add_row(Block const& block, std::ptrdiff_t mine, T id) const {
        auto* const marked = block.template shared<std::uint32_t>();
        auto const threads = std::ptrdiff_t{block.threads()};
        for (std::ptrdiff_t begin = 0; begin < count; begin += threads * marks) {
            std::ptrdiff_t const at = begin + std::ptrdiff_t{block.thread()} * marks;
            std::uint32_t found = 0;
            for (std::ptrdiff_t k = 0; k < marks && at + k < count; ++k) {
                found |= std::uint32_t{ids.get(at + k) == id} << k;
            }
            block.sync(); // others have read what was marked before
            marked[block.thread()] = found;
            block.sync();
            for (std::ptrdiff_t i = 0; i < threads; ++i) {
                for (std::uint32_t rest = marked[i]; rest != 0; rest &= rest - 1) {
                    std::ptrdiff_t const position = begin + i * marks + lowest_bit(rest);
                    if (position < mine) {
                        return;
                    }
                    add(block, position, static_cast<std::ptrdiff_t>(id));
                }
            }
        }
    }

    template <class Block>
    CASTNET_HD void add(Block const& block, std::ptrdiff_t position, std::ptrdiff_t row) const {
        for (std::ptrdiff_t k = block.thread(); k < columns; k += block.threads()) {
            to[row * columns + k] += from.get(position * columns + k);
        }
    }

    CASTNET_HD static int lowest_bit(std::uint32_t x) {
        int bit = 0;
        for (; (x & 1U) == 0; x >>= 1) {
            ++bit;
        }
        return bit;
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
    where.shared_bytes = block_threads * sizeof(std::uint32_t);
    c.launch(where, scatter_rows_body<T>{stored_at(c, t.arrays[s.first_array]), stored_at(c, from),
                                         c.at(to), from.size.channels, positions,
                                         static_cast<T>(s.attribute)});
}

template <class Context>
struct kernel_for<Context, op::gather_rows> : function_kernel<Context, &gather_rows<Context>> {};
template <class Context>
struct kernel_for<Context, op::scatter_rows> : function_kernel<Context, &scatter_rows<Context>> {};

} // namespace castnet::cuda
