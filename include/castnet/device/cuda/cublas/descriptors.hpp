// cuBLASLt's descriptors of a product. castnet's matrices are row-major and cuBLASLt's
// column-major, so it computes the transposed result: D' = B' A'.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/cublas/product.hpp>
#include <castnet/device/cuda/cublas/status.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/owned.hpp>

#include <cstdint>
#include <string>

namespace castnet::cuda::cublas {

// The product as a line of text, for messages and as a key; types and epilogues by cuBLASLt's
// numbers.
inline std::string text_of(product const& p) {
    auto const matrix = [](std::int64_t rows, std::int64_t columns, bool transposed) {
        return string_of({rows, " x ", columns, transposed ? ", transposed" : ""});
    };
    std::string text =
        string_of({"product of ", matrix(p.rows, p.depth, p.transposed_a), ", and ",
                   matrix(p.depth, p.columns, p.transposed_b), ", type ", int(p.type), " to ",
                   int(p.result), ", computed in ", int(p.compute), ", epilogue ", int(p.end)});
    if (p.batch > 1 || p.a.row > 0 || p.b.row > 0 || p.d.row > 0) {
        text += string_of({", batch of ", p.batch, ", aligned to ", int(p.alignment)});
        for (placement const& lies : {p.a, p.b, p.d}) {
            text += string_of({", rows ", lies.row, " and matrices ", lies.next, " apart"});
        }
    }
    return text;
}

// The descriptors of a product, in cuBLASLt's order: its A is our b, its B our a.
class product_descriptors {
public:
    explicit product_descriptors(product const& p) {
        cublasLtMatmulDesc_t made = nullptr;
        CASTNET_CUDA(cublasLtMatmulDescCreate(&made, p.compute, scale_type(p)));
        operation_ = owned_operation{made};
        set(CUBLASLT_MATMUL_DESC_TRANSA, p.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, p.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
        if (p.end != CUBLASLT_EPILOGUE_DEFAULT) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.end);
            // for the choice of an algorithm, which depends on its alignment only
            set_bias(reinterpret_cast<void const*>(alignment_bytes));
        }
        first_ = layout(p.type, p.depth, p.columns, p.transposed_b, p.batch, p.b);
        second_ = layout(p.type, p.rows, p.depth, p.transposed_a, p.batch, p.a);
        result_ = layout(p.result, p.rows, p.columns, false, p.batch, p.d);
    }

    void set_bias(void const* columns) const { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, columns); }

    cublasLtMatmulDesc_t operation() const { return operation_.get(); }
    cublasLtMatrixLayout_t first() const { return first_.get(); }
    cublasLtMatrixLayout_t second() const { return second_.get(); }
    cublasLtMatrixLayout_t result() const { return result_.get(); }

private:
    using owned_operation = owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
    using owned_layout = owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

    template <class T>
    void set(cublasLtMatmulDescAttributes_t name, T const& value) const {
        CASTNET_CUDA(cublasLtMatmulDescSetAttribute(operation_.get(), name, &value, sizeof value));
    }

    // The layout of matrices with castnet's rows and columns, transposed or not.
    static owned_layout layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                               bool transposed, std::int32_t batch, placement const& lies) {
        std::int64_t const lines = transposed ? columns : rows,
                           length = transposed ? rows : columns;
        cublasLtMatrixLayout_t made = nullptr;
        CASTNET_CUDA(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(length),
                                                static_cast<std::uint64_t>(lines),
                                                lies.row > 0 ? lies.row : length));
        owned_layout owner{made};
        if (batch > 1) {
            auto const set = [&](cublasLtMatrixLayoutAttribute_t name, auto value) {
                CASTNET_CUDA(cublasLtMatrixLayoutSetAttribute(made, name, &value, sizeof value));
            };
            set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
            set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, lies.next);
        }
        return owner;
    }

    owned_operation operation_;
    owned_layout first_, second_, result_;
};

} // namespace castnet::cuda::cublas
