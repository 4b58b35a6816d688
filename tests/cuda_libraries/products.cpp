// The matrix products of dense layers as cuBLASLt is told of them, read back from its descriptors.
// No GPU is needed.
#include <castnet/device/cuda/matmul.hpp>

#include <doctest/doctest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cn = castnet;
namespace cublas = castnet::cuda::cublas;
using cn::op;

namespace {

struct layout {
    std::uint64_t rows, columns;
    std::int64_t between; // columns that follow each other

    bool operator==(layout const&) const = default;
};

layout read(cublasLtMatrixLayout_t l, cudaDataType_t type) {
    auto const number = [&](auto value, cublasLtMatrixLayoutAttribute_t name) {
        CHECK(cublasLtMatrixLayoutGetAttribute(l, name, &value, sizeof value, nullptr) ==
              CUBLAS_STATUS_SUCCESS);
        return value;
    };
    CHECK(number(std::uint32_t{}, CUBLASLT_MATRIX_LAYOUT_TYPE) == std::uint32_t(type));
    return {number(std::uint64_t{}, CUBLASLT_MATRIX_LAYOUT_ROWS),
            number(std::uint64_t{}, CUBLASLT_MATRIX_LAYOUT_COLS),
            number(std::int64_t{}, CUBLASLT_MATRIX_LAYOUT_LD)};
}

template <class T>
T read(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t name) {
    T value{};
    CHECK(cublasLtMatmulDescGetAttribute(d, name, &value, sizeof value, nullptr) ==
          CUBLAS_STATUS_SUCCESS);
    return value;
}

// A step of a dense layer from 6 features to 10 units on 3 rows of each of 4 samples.
template <class T>
cublas::product dense_step(op kind, cn::cuda::product_precision precision = {},
                           cn::ir::epilogue const& end = {}, bool bf16_result = false) {
    cn::ir::extents const x{true, 3, 6}, y{true, 3, 10}, w{false, 10, 6};
    cn::ir::array_ref arrays[3];
    arrays[0].size = kind == op::matmul_data ? y : x;
    arrays[1].size = kind == op::matmul_weight ? y : w;
    arrays[2].size = kind == op::matmul ? y : kind == op::matmul_data ? x : w;
    arrays[2].is_bf16 = bf16_result;
    cn::ir::kernel_launch s;
    s.kind = kind;
    s.end = end;
    s.output = 2;
    cn::cuda::context<T> c;
    c.samples = 4;
    c.precision = precision;
    return cn::cuda::product_of(s, {arrays, nullptr, nullptr}, c);
}

} // namespace

// All matrices lie row by row, so that cuBLASLt sees each one transposed; its first factor is the
// second of ours.
TEST_CASE("y = x W: columns of y' are W' times columns of x'") {
    cublas::product_descriptors const d{dense_step<float>(op::matmul)};
    CHECK(read(d.first(), CUDA_R_32F) == layout{10, 6, 10}); // W' (units x features)
    CHECK(read(d.second(), CUDA_R_32F) == layout{6, 12, 6}); // x'
    CHECK(read(d.result(), CUDA_R_32F) == layout{10, 12, 10});
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_N);
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSB) == CUBLAS_OP_N);
}

TEST_CASE("the gradient of x is dy W'") {
    cublas::product_descriptors const d{dense_step<float>(op::matmul_data)};
    CHECK(read(d.first(), CUDA_R_32F) == layout{10, 6, 10}); // W', transposed
    CHECK(read(d.second(), CUDA_R_32F) == layout{10, 12, 10});
    CHECK(read(d.result(), CUDA_R_32F) == layout{6, 12, 6});
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_T);
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSB) == CUBLAS_OP_N);
}

TEST_CASE("the gradient of W is x' dy") {
    cublas::product_descriptors const d{dense_step<float>(op::matmul_weight)};
    CHECK(read(d.first(), CUDA_R_32F) == layout{10, 12, 10});
    CHECK(read(d.second(), CUDA_R_32F) == layout{6, 12, 6}); // x', transposed
    CHECK(read(d.result(), CUDA_R_32F) == layout{10, 6, 10});
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_N);
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSB) == CUBLAS_OP_T);
}

TEST_CASE("what a product is computed in") {
    auto const compute = [](cublas::product const& p) {
        cublas::product_descriptors const d{p};
        CHECK(read<cublasComputeType_t>(d.operation(), CUBLASLT_MATMUL_DESC_COMPUTE_TYPE) ==
              p.compute);
        return p.compute;
    };
    using cn::cuda::product_precision;
    CHECK(compute(dense_step<float>(op::matmul)) == CUBLAS_COMPUTE_32F);
    CHECK(compute(dense_step<float>(op::matmul, product_precision::tf32)) ==
          CUBLAS_COMPUTE_32F_FAST_TF32);
    CHECK(compute(dense_step<double>(op::matmul)) == CUBLAS_COMPUTE_64F);
    CHECK(compute(dense_step<float>(op::matmul, product_precision::bf16)) == CUBLAS_COMPUTE_32F);
    CHECK(read(cublas::product_descriptors{dense_step<double>(op::matmul)}.result(), CUDA_R_64F) ==
          layout{10, 12, 10});
}

TEST_CASE("what is done to a product's result") {
    auto const code = [](cn::ir::epilogue const& end, op kind = op::matmul) {
        cublas::product const p = dense_step<float>(kind, {}, end);
        cublas::product_descriptors const d{p};
        auto const set = read<cublasLtEpilogue_t>(d.operation(), CUBLASLT_MATMUL_DESC_EPILOGUE);
        CHECK(set == p.end);
        auto const bias = [&] {
            return read<void const*>(d.operation(), CUBLASLT_MATMUL_DESC_BIAS_POINTER);
        };
        // those who choose an algorithm see the alignment of arrays
        CHECK(bias() ==
              reinterpret_cast<void const*>(end.does_anything() ? cn::cuda::alignment_bytes : 0));
        d.set_bias(&p);
        CHECK(bias() == &p);
        return set;
    };
    CHECK(code({}) == CUBLASLT_EPILOGUE_DEFAULT);
    CHECK(code({true}) == CUBLASLT_EPILOGUE_BIAS);
    CHECK(code({true, true, cn::fn::relu}) == CUBLASLT_EPILOGUE_RELU_BIAS);
    CHECK(code({true, true, cn::fn::gelu_tanh}) == CUBLASLT_EPILOGUE_GELU_BIAS);
    // the sums of dy over its rows, which are the columns of cuBLASLt's first factor
    CHECK(code({.bias_gradient = true}, op::matmul_weight) == CUBLASLT_EPILOGUE_BGRADA);
}

TEST_CASE("which epilogues the libraries are asked for") {
    using cn::cuda::takes_epilogue;
    CHECK(takes_epilogue<float>(op::conv, {true}));
    CHECK(takes_epilogue<float>(op::conv, {true, true, cn::fn::relu}));
    CHECK(takes_epilogue<float>(op::matmul, {true, true, cn::fn::gelu_tanh}));
    CHECK_FALSE(takes_epilogue<float>(op::conv, {true, true, cn::fn::gelu_tanh}));
    CHECK_FALSE(takes_epilogue<float>(op::matmul, {true, true, cn::fn::gelu})); // not by tanh
    CHECK_FALSE(takes_epilogue<double>(op::matmul, {true}));
    CHECK(takes_epilogue<float>(op::matmul_weight, {.bias_gradient = true}));
    CHECK_FALSE(takes_epilogue<float>(op::conv_weight, {.bias_gradient = true}));
    CHECK_FALSE(takes_epilogue<double>(op::matmul_weight, {.bias_gradient = true}));
}

TEST_CASE("factors in bfloat16 have results in float, or in bfloat16 where products read those") {
    for (bool const in_bf16 : {false, true}) {
        cublas::product const p =
            dense_step<float>(op::matmul, cn::cuda::product_precision::bf16, {true}, in_bf16);
        cublas::product_descriptors const d{p};
        CHECK(read(d.first(), CUDA_R_16BF) == layout{10, 6, 10});
        CHECK(read(d.second(), CUDA_R_16BF) == layout{6, 12, 6});
        CHECK(read(d.result(), in_bf16 ? CUDA_R_16BF : CUDA_R_32F) == layout{10, 12, 10});
        CHECK(read<cudaDataType_t>(d.operation(), CUBLASLT_MATMUL_DESC_SCALE_TYPE) == CUDA_R_32F);
    }
}

namespace {

// Of two heads on 3 rows of each of 4 samples: q k', of 5 features, as (heads * rows, rows) from
// (rows, heads * features), or from (heads * rows, features).
cn::cuda::products_of_batch scores(bool beside) {
    cn::ir::extents const q = beside ? cn::ir::extents{true, 3, 10} : cn::ir::extents{true, 6, 5};
    cn::ir::array_ref arrays[3];
    arrays[0].size = arrays[1].size = q;
    arrays[2].size = {true, 6, 3};
    cn::ir::kernel_launch s;
    s.kind = op::batch_matmul;
    s.attribute = cn::ir::product_form{2, false, true, beside, beside, false}.packed();
    s.output = 2;
    cn::cuda::context<float> c;
    c.samples = 4;
    return cn::cuda::batch_of(s, {arrays, nullptr, nullptr}, c);
}

std::pair<std::int32_t, std::int64_t> batch_of(cublasLtMatrixLayout_t l) {
    std::int32_t count = 0;
    std::int64_t next = 0;
    CHECK(cublasLtMatrixLayoutGetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                           sizeof count, nullptr) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatrixLayoutGetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &next,
                                           sizeof next, nullptr) == CUBLAS_STATUS_SUCCESS);
    return {count, next};
}

} // namespace

TEST_CASE("matrices one below the other are one batch with those of all samples") {
    auto const p = scores(false);
    CHECK(p.calls == 1);
    CHECK(p.what.alignment == 16);
    cublas::product_descriptors const d{p.what};
    CHECK(read(d.first(), CUDA_R_32F) == layout{5, 3, 5}); // k, transposed
    CHECK(read(d.second(), CUDA_R_32F) == layout{5, 3, 5});
    CHECK(read(d.result(), CUDA_R_32F) == layout{3, 3, 3});
    CHECK(batch_of(d.first()) == std::pair{8, std::int64_t{15}});
    CHECK(batch_of(d.second()) == std::pair{8, std::int64_t{15}});
    CHECK(batch_of(d.result()) == std::pair{8, std::int64_t{9}});
    CHECK(read<cublasOperation_t>(d.operation(), CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_T);
    CHECK(cublas::span_of(p.what.rows, p.what.depth, false, p.what.batch, p.what.a) == 120);
}

TEST_CASE("matrices beside one another are a batch of the samples for each") {
    auto const p = scores(true);
    CHECK(p.calls == 2);
    CHECK((p.a == 5 && p.b == 5 && p.d == 9));
    CHECK(p.what.alignment == 4); // of the second head
    cublas::product_descriptors const d{p.what};
    CHECK(read(d.first(), CUDA_R_32F) == layout{5, 3, 10});
    CHECK(read(d.result(), CUDA_R_32F) == layout{3, 3, 3});
    CHECK(batch_of(d.second()) == std::pair{4, std::int64_t{30}});
    CHECK(batch_of(d.result()) == std::pair{4, std::int64_t{18}});
}

TEST_CASE("different products are different texts") {
    std::vector<cublas::product> all(13, {6, 7, 8});
    all[1].rows = all[2].columns = all[3].depth = 9;
    all[4].transposed_a = all[5].transposed_b = true;
    all[6].type = all[7].result = CUDA_R_16BF;
    all[8].compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    all[9].end = CUBLASLT_EPILOGUE_BIAS;
    all[10].batch = all[11].batch = 2;
    all[11].b.next = 56;
    all[12].d.row = 9;
    std::set<std::string> texts;
    for (auto const& one : all) {
        texts.insert(cublas::text_of(one));
    }
    CHECK(texts.size() == all.size());
}
