// The functions of the simulated cuBLASLt (products.hpp). Descriptors are the library's own.
#include "products.hpp"

#include <castnet/expr/activation.hpp>

#include "machine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

using products::simulated;

namespace {

// A matrix as cuBLASLt sees it, by columns.
struct matrix {
    std::int64_t rows = 0, columns = 0, between = 0, next = 0;
    std::int32_t batch = 1;
    std::uint32_t type = 0;

    explicit matrix(cublasLtMatrixLayout_t layout) {
        auto const read = [&](cublasLtMatrixLayoutAttribute_t name, auto& value) {
            cublasLtMatrixLayoutGetAttribute(layout, name, &value, sizeof value, nullptr);
        };
        std::uint64_t r = 0, c = 0;
        read(CUBLASLT_MATRIX_LAYOUT_ROWS, r);
        read(CUBLASLT_MATRIX_LAYOUT_COLS, c);
        rows = std::int64_t(r);
        columns = std::int64_t(c);
        read(CUBLASLT_MATRIX_LAYOUT_LD, between);
        read(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
        read(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, next);
        read(CUBLASLT_MATRIX_LAYOUT_TYPE, type);
    }
    std::int64_t at(std::int64_t row, std::int64_t column, bool transposed, int number) const {
        return number * next + (transposed ? row * between + column : column * between + row);
    }
};

// An epilogue of our columns, cuBLASLt's rows, but for that of gradients.
template <class T>
struct epilogue {
    cublasLtEpilogue_t kind;
    T const* bias;

    T of(T sum, std::int64_t row) const {
        if (kind & CUBLASLT_EPILOGUE_BIAS) {
            sum += bias[row];
        }
        if (kind & CUBLASLT_EPILOGUE_RELU) {
            return std::max(sum, T(0));
        }
        return kind & CUBLASLT_EPILOGUE_GELU ? castnet::function<castnet::fn::gelu_tanh>::value(sum)
                                             : sum;
    }
};

// d = end(factors[0] a b + factors[1] addend)
template <class T>
void multiply(matrix const& a, bool turn_a, T const* x, matrix const& b, bool turn_b, T const* y,
              T const (&factors)[2], T const* addend, matrix const& d, T* to,
              epilogue<T> const& end) {
    std::int64_t const depth = turn_a ? a.rows : a.columns;
    for (int number = 0; number < d.batch; ++number) {
        for (std::int64_t i = 0; i < d.rows; ++i) {
            for (std::int64_t j = 0; j < d.columns; ++j) {
                T sum = 0;
                for (std::int64_t k = 0; k < depth; ++k) {
                    sum += x[a.at(i, k, turn_a, number)] * y[b.at(k, j, turn_b, number)];
                }
                std::int64_t const at = d.at(i, j, false, number);
                to[at] = end.of(
                    factors[0] * sum + (factors[1] != 0 ? factors[1] * addend[at] : T(0)), i);
            }
        }
    }
}

} // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    *handle = reinterpret_cast<cublasLtHandle_t>(&simulated);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int count,
                                              cublasLtMatmulHeuristicResult_t all[], int* filled) {
    cublasLtEpilogue_t end{};
    cublasLtMatmulDescGetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &end, sizeof end,
                                   nullptr);
    if (end != CUBLASLT_EPILOGUE_DEFAULT && simulated.epilogues != CUBLAS_STATUS_SUCCESS) {
        return simulated.epilogues;
    }
    *filled = std::min(count, int(simulated.milliseconds.size()));
    for (int i = 0; i < *filled; ++i) {
        std::memset(&all[i], 0, sizeof all[i]);
        all[i].algo.data[0] = std::uint64_t(i);
    }
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(cublasLtMatmulAlgo_t const* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t, void* to,
                                                    std::size_t, std::size_t*) {
    *static_cast<std::int32_t*>(to) = 100 + std::int32_t(algorithm->data[0]);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, void const* alpha,
                              void const* x, cublasLtMatrixLayout_t first, void const* y,
                              cublasLtMatrixLayout_t second, void const* beta, void const* addend,
                              cublasLtMatrixLayout_t, void* to, cublasLtMatrixLayout_t result,
                              cublasLtMatmulAlgo_t const* algorithm, void*, std::size_t,
                              cudaStream_t stream) {
    auto const turned = [&](cublasLtMatmulDescAttributes_t name) {
        std::int32_t operation = 0;
        cublasLtMatmulDescGetAttribute(product, name, &operation, sizeof operation, nullptr);
        return operation == CUBLAS_OP_T;
    };
    bool const is_wide = matrix{result}.type == CUDA_R_64F;
    auto const number_at = [&](void const* at) {
        return is_wide ? *static_cast<double const*>(at) : double(*static_cast<float const*>(at));
    };
    cublasLtEpilogue_t end{};
    cublasLtMatmulDescGetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &end, sizeof end,
                                   nullptr);
    void const* bias = nullptr;
    cublasLtMatmulDescGetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias,
                                   nullptr);
    machine::work w;
    w.run = [=, of_product = number_at(alpha), of_addend = number_at(beta),
             number = int(algorithm->data[0]), a = matrix{first}, b = matrix{second},
             d = matrix{result}, turn_a = turned(CUBLASLT_MATMUL_DESC_TRANSA),
             turn_b = turned(CUBLASLT_MATMUL_DESC_TRANSB)] {
        machine::here().clock += simulated.milliseconds[std::size_t(number)];
        simulated.last = number;
        ++simulated.products;
        if (to == nullptr) { // only to be timed
        } else if (is_wide) {
            multiply<double>(a, turn_a, static_cast<double const*>(x), b, turn_b,
                             static_cast<double const*>(y), {of_product, of_addend},
                             static_cast<double const*>(addend), d, static_cast<double*>(to),
                             {end, static_cast<double const*>(bias)});
        } else {
            multiply<float>(a, turn_a, static_cast<float const*>(x), b, turn_b,
                            static_cast<float const*>(y), {float(of_product), float(of_addend)},
                            static_cast<float const*>(addend), d, static_cast<float*>(to),
                            {end, static_cast<float const*>(bias)});
        }
    };
    machine::here().put(*reinterpret_cast<machine::stream*>(stream), std::move(w));
    return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
