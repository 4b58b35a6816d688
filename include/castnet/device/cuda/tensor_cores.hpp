// Products of bfloat16 matrices in shared memory on tensor cores, by warps (PTX ISA, mma.m16n8k16
// and ldmatrix; GPUs from sm_80 on).
//
// A warp multiplies 16 x 16 numbers by 16 x 8 and adds to 16 x 8 sums. Lane 4 g + t has
//
//   of the left factor    (g, p) (g + 8, p) (g, p + 8) (g + 8, p + 8)  for p = 2 t, 2 t + 1
//   of the right factor   (p, g) (p + 8, g)                            for the same
//   of the sums           (g, p) (g + 8, p)                            for the same
//
// two numbers in a word. So the sums of two products beside each other, rounded, are the left
// factor of a next product.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/launch.hpp>

#include <cstdint>

namespace castnet::cuda {

// A lane's part of a left factor, or of two right factors beside each other.
struct matrix_fragment {
    std::uint32_t word[4];
};

#ifdef __CUDACC__

// Four matrices of 8 x 8 numbers, each a word of a fragment; a lane gives the address of a row of
// 16 bytes, eight lanes those of a matrix.
template <bool Transposed>
__device__ inline matrix_fragment load_matrices(device_block const&, bfloat16 const* row) {
    matrix_fragment f{};
#if __CUDA_ARCH__ >= 800
    auto const address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (Transposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
                     : "r"(address)
                     : "memory");
    }
#else // where no library has products of bfloat16 either
    __trap();
#endif
    return f;
}

// sum += left * right
__device__ inline void multiply_add(device_block const&, float (&sum)[4],
                                    matrix_fragment const& left, std::uint32_t right_top,
                                    std::uint32_t right_bottom) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]),
          "r"(right_top), "r"(right_bottom));
#endif
}

#endif

// A lane's part of 16 x 8 sums.
struct sum_fragment {
    float of[4] = {};

    CASTNET_HD static constexpr int row(int lane, int i) { return lane / 4 + i / 2 * 8; }
    CASTNET_HD static constexpr int column(int lane, int i) { return lane % 4 * 2 + i % 2; }
};

// 16 x 16 sums as a left factor.
CASTNET_HD inline matrix_fragment left_factor(sum_fragment const& first,
                                              sum_fragment const& second) {
    return {{two_bfloat16(first.of[0], first.of[1]), two_bfloat16(first.of[2], first.of[3]),
             two_bfloat16(second.of[0], second.of[1]), two_bfloat16(second.of[2], second.of[3])}};
}

// A matrix in shared memory whose rows begin at multiples of 16 bytes and, eight after another, in
// different banks.
template <int Columns>
struct matrix_tile {
    static_assert(Columns % 64 == 0);
    static constexpr int pitch = Columns + 8; // elements between rows

    bfloat16* first;

    CASTNET_HD bfloat16* at(int row, int column) const { return first + row * pitch + column; }
    // The 16 x 16 numbers from (row, column) on, as a left factor.
    template <class Block>
    CASTNET_HD matrix_fragment left(Block const& block, int row, int column) const {
        int const lane = int(block.thread() % 32);
        return load_matrices<false>(block, at(row + lane % 16, column + lane / 16 * 8));
    }
    // The same, as two right factors.
    template <class Block>
    CASTNET_HD matrix_fragment right(Block const& block, int row, int column) const {
        int const lane = int(block.thread() % 32);
        return load_matrices<true>(block, at(row + lane % 16, column + lane / 16 * 8));
    }
    // The same, transposed: rows of the tile are columns of the factors.
    template <class Block>
    CASTNET_HD matrix_fragment right_of_transposed(Block const& block, int row, int column) const {
        int const lane = int(block.thread() % 32);
        return load_matrices<false>(block,
                                    at(row + lane % 8 + lane / 16 * 8, column + lane / 8 % 2 * 8));
    }
};

// Adds left times both right factors to the sums beside each other.
template <class Block>
CASTNET_HD void multiply_add(Block const& block, sum_fragment& first, sum_fragment& second,
                             matrix_fragment const& left, matrix_fragment const& right) {
    multiply_add(block, first.of, left, right.word[0], right.word[1]);
    multiply_add(block, second.of, left, right.word[2], right.word[3]);
}

} // namespace castnet::cuda
