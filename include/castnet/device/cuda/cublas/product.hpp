// Matrix product as cuBLASLt describes it. castnet's matrices are row-major and cuBLASLt's
// column-major, so it computes the transposed result: D' = B' A'.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/cublas/status.hpp>
#include <castnet/device/cuda/launch.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace castnet::cuda::cublas {

// d (rows x columns) = a (rows x depth) times b (depth x columns).
struct product {
    std::int64_t rows = 0, columns = 0, depth = 0;
    bool transposed_a = false;          // a lies as (depth x rows)
    bool transposed_b = false;          // b lies as (columns x depth)
    cudaDataType_t type = CUDA_R_32F;   // of the factors
    cudaDataType_t result = CUDA_R_32F; // and of a bias or its gradient
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cublasLtEpilogue_t end = CUBLASLT_EPILOGUE_DEFAULT; // or with a number for each column

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

// The product as a line of text, for messages and as a key; types and epilogues by cuBLASLt's
// numbers.
inline std::string text_of(product const& p) {
    auto const matrix = [](std::int64_t rows, std::int64_t columns, bool transposed) {
        return string_of({rows, " x ", columns, transposed ? ", transposed" : ""});
    };
    return string_of({"product of ", matrix(p.rows, p.depth, p.transposed_a), ", and ",
                      matrix(p.depth, p.columns, p.transposed_b), ", type ", int(p.type), " to ",
                      int(p.result), ", computed in ", int(p.compute), ", epilogue ", int(p.end)});
}

namespace detail {

struct destroy {
    void operator()(cublasLtMatmulDescOpaque_t* d) const { cublasLtMatmulDescDestroy(d); }
    void operator()(cublasLtMatrixLayoutOpaque_t* d) const { cublasLtMatrixLayoutDestroy(d); }
    void operator()(cublasLtMatmulPreferenceOpaque_t* d) const {
        cublasLtMatmulPreferenceDestroy(d);
    }
    void operator()(cublasLtContext* d) const { cublasLtDestroy(d); }
};
template <class T>
using owned = std::unique_ptr<T, destroy>;

} // namespace detail

// The descriptors of a product, in cuBLASLt's order: its A is our b, its B our a.
class product_descriptors {
public:
    explicit product_descriptors(product const& p) {
        cublasLtMatmulDesc_t made = nullptr;
        CASTNET_CUDA(cublasLtMatmulDescCreate(&made, p.compute, scale_type(p)));
        operation_.reset(made);
        set(CUBLASLT_MATMUL_DESC_TRANSA, p.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, p.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
        if (p.end != CUBLASLT_EPILOGUE_DEFAULT) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.end);
            // for the choice of an algorithm, which depends on its alignment only
            set_bias(reinterpret_cast<void const*>(alignment_bytes));
        }
        first_ = layout(p.type, p.depth, p.columns, p.transposed_b);
        second_ = layout(p.type, p.rows, p.depth, p.transposed_a);
        result_ = layout(p.result, p.rows, p.columns, false);
    }

    void set_bias(void const* columns) const { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, columns); }

    cublasLtMatmulDesc_t operation() const { return operation_.get(); }
    cublasLtMatrixLayout_t first() const { return first_.get(); }
    cublasLtMatrixLayout_t second() const { return second_.get(); }
    cublasLtMatrixLayout_t result() const { return result_.get(); }

private:
    using owned_layout = detail::owned<cublasLtMatrixLayoutOpaque_t>;

    template <class T>
    void set(cublasLtMatmulDescAttributes_t name, T const& value) const {
        CASTNET_CUDA(cublasLtMatmulDescSetAttribute(operation_.get(), name, &value, sizeof value));
    }

    // The layout of a matrix with castnet's rows and columns, transposed or not.
    static owned_layout layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                               bool transposed) {
        std::int64_t const lines = transposed ? columns : rows,
                           length = transposed ? rows : columns;
        cublasLtMatrixLayout_t made = nullptr;
        CASTNET_CUDA(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(length),
                                                static_cast<std::uint64_t>(lines), length));
        return owned_layout{made};
    }

    detail::owned<cublasLtMatmulDescOpaque_t> operation_;
    owned_layout first_, second_, result_;
};

} // namespace castnet::cuda::cublas
