// Matrix product as cuBLASLt describes it.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <cstdint>
#include <cublasLt.h>

namespace castnet::cuda::cublas {

// How the matrices of a product lie: elements from row to row as they are stored, 0 where there is
// nothing between rows, and from one matrix of the batch to the next.
struct placement {
    std::int64_t row = 0, next = 0;

    friend bool operator==(placement const&, placement const&) = default;
};

// d (rows x columns) = a (rows x depth) times b (depth x columns), for each of a batch.
struct product {
    std::int64_t rows = 0, columns = 0, depth = 0;
    bool transposed_a = false;          // a lies as (depth x rows)
    bool transposed_b = false;          // b lies as (columns x depth)
    cudaDataType_t type = CUDA_R_32F;   // of the factors
    cudaDataType_t result = CUDA_R_32F; // and of a bias or its gradient
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cublasLtEpilogue_t end = CUBLASLT_EPILOGUE_DEFAULT; // or with a number for each column
    int batch = 1;
    placement a{}, b{}, d{};
    std::uint32_t alignment = 16; // bytes, at least, of all three

    friend bool operator==(product const&, product const&) = default;
};

// Compute type of factors and sums.
constexpr cudaDataType_t scale_type(product const& p) {
    return p.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
}

// Size of an element.
constexpr int bytes_of(cudaDataType_t type) {
    return type == CUDA_R_64F ? 8 : type == CUDA_R_16BF ? 2 : 4;
}

// Of arrays that begin so many bytes after such as are aligned to 16: the largest power of two.
template <class... Bytes>
constexpr std::uint32_t common_alignment(Bytes... bytes) {
    std::ptrdiff_t const all = (16 | ... | bytes);
    return static_cast<std::uint32_t>(all & -all);
}

// Elements of memory from the first to the last of the matrices of a batch.
constexpr std::int64_t span_of(std::int64_t rows, std::int64_t columns, bool transposed, int batch,
                               placement const& lies) {
    std::int64_t const lines = transposed ? columns : rows, length = transposed ? rows : columns;
    return (batch - 1) * lies.next + (lines - 1) * (lies.row > 0 ? lies.row : length) + length;
}

// Linear combination with a product: d = of_product a b + of_addend addend.
struct combination {
    double of_product = 1, of_addend = 0;
    void const* addend = nullptr; // as d; where there is none, it is d
};

} // namespace castnet::cuda::cublas
