// Blocked transposition: a block's rows and columns both stay in the L1 cache.
#pragma once

#include <castnet/core/target.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// Rows and columns of a block
inline constexpr std::ptrdiff_t transpose_block = 16;

// to[j, i] = from[i, j] for 0 <= i < rows and 0 <= j < columns; strides are those of a row.
template <class T>
void transpose(std::ptrdiff_t rows, std::ptrdiff_t columns, T const* from,
               std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride) {
    for (std::ptrdiff_t top = 0; top < rows; top += transpose_block) {
        std::ptrdiff_t const bottom = std::min(top + transpose_block, rows);
        for (std::ptrdiff_t left = 0; left < columns; left += transpose_block) {
            std::ptrdiff_t const right = std::min(left + transpose_block, columns);
            for (std::ptrdiff_t j = left; j < right; ++j) {
                for (std::ptrdiff_t i = top; i < bottom; ++i) {
                    to[j * to_stride + i] = from[i * from_stride + j];
                }
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
