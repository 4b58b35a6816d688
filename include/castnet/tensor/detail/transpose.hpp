// Transposition of a matrix whose extents the compiler knows, by blocks that are turned in vector
// registers.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/tensor/detail/lanes.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace castnet::detail::inline CASTNET_VECTORS {

// Numbers of which blocks are turned, as floats or doubles of their size.
template <class T>
concept TurnedInVectors =
    std::is_arithmetic_v<T> && (sizeof(T) == sizeof(float) || sizeof(T) == sizeof(double));

// Fate of the memory after the last row of a result.
enum class memory_after : bool { kept, undetermined };

// The rows and columns of a block.
template <class T, size_t Rows, size_t Columns>
inline constexpr size_t block_lanes =
    std::min(std::bit_ceil(std::min(Rows, Columns)), static_cast<size_t>(cpu::simd<T>::width));

// to[i, j] = from[j, i] for i < Rows and j < Columns. A line of `from` or `to` lies in memory
// without gaps, and those of `to` one after the other if they are shorter than a block: they are
// written from first to last, each with numbers after it that do not matter.
template <size_t Rows, size_t Columns, memory_after After = memory_after::kept, TurnedInVectors T>
CASTNET_WIDE_VECTORS inline void transpose_fixed(T const* from, size_t from_step, T* to,
                                                 size_t to_step) {
    constexpr size_t lanes = block_lanes<T, Rows, Columns>, rows = std::min(lanes, Rows),
                     columns = std::min(lanes, Columns);
    using number = std::conditional_t<sizeof(T) == sizeof(float), float, double>;
    using vector = typename cpu::vector_of<number, static_cast<int>(lanes)>::type;
    auto const turn_block = [&](size_t top, size_t left) __attribute__((always_inline)) {
        vector lines[lanes]; // (nvcc 13.0 crashes where one is assigned a constant)
        CASTNET_UNROLL
        for (size_t j = 0; j < lanes; ++j) {
            T const* const line = from + (left + std::min(j, columns - 1)) * from_step + top;
            if (j >= columns) {
                std::memset(&lines[j], 0, sizeof(vector));
            } else if (rows == lanes || j + 1 < columns || left + columns < Columns) {
                lines[j] = *reinterpret_cast<vector const*>(line);
            } else { // nothing lies after it
                std::memset(&lines[j], 0, sizeof(vector));
                std::memcpy(&lines[j], line, rows * sizeof(T));
            }
        }
        cpu::turn_lanes<1, number, static_cast<int>(lanes)>(lines);
        CASTNET_UNROLL
        for (size_t i = 0; i < rows; ++i) {
            T* const line = to + (top + i) * to_step + left;
            if (columns == lanes || After == memory_after::undetermined || i + 1 < rows ||
                top + rows < Rows) {
                *reinterpret_cast<vector*>(line) = lines[i];
            } else {
                std::memcpy(line, &lines[i], columns * sizeof(T));
            }
        }
    };
    // All that a line of the cache has is turned at once. (The last block of a line begins earlier,
    // where the one before has not ended.)
    constexpr size_t height = std::max(rows, 64 / sizeof(T) / rows * rows);
    for (size_t top = 0; top < Rows; top += height) {
        for (size_t left = 0; left < Columns; left += columns) {
            for (size_t row = top; row < std::min(top + height, Rows); row += rows) {
                turn_block(std::min(row, Rows - rows), std::min(left, Columns - columns));
            }
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
