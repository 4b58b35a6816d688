// Expressions, reductions and products of tensors on one thread.
#include "tensors.hpp"

#include <castnet/tensor/tensor.hpp>

#include "peak.hpp"

#include <benchmark/benchmark.h>
#include <string>
#include <type_traits>

namespace {

namespace cn = castnet;

template <class T, size_t M, size_t N = M>
using matrix = cn::tensor<T, cn::shape<M, N>>;
template <class T, size_t N>
using vector = cn::tensor<T, cn::shape<N>>;

// Numbers between 0.5 and 1.5
template <class Tensor>
Tensor numbers(int phase) {
    return 1 + 0.5 * cn::sin(Tensor::arange(static_cast<typename Tensor::value_type>(phase)));
}

// f with so many floating-point operations, as the benchmark name/size
template <class F>
void add_counted(std::string const& name, std::string const& size, double flops, F const& f) {
    benchmark::RegisterBenchmark((name + "/" + size).c_str(), [f, flops](benchmark::State& state) {
        bench::meter const clock;
        bench::repeat(state, f);
        clock.report(state, flops);
    });
}

// Element-wise expressions and reductions of M x N matrices
template <class T, size_t M, size_t N>
void add_expressions() {
    static auto a = numbers<matrix<T, M, N>>(0), b = numbers<matrix<T, M, N>>(1),
                c = numbers<matrix<T, M, N>>(2);
    static auto turned = numbers<matrix<T, N, M>>(5);
    static auto row = numbers<vector<T, N>>(3);
    static auto column = numbers<matrix<T, M, 1>>(4);
    static matrix<T, M, N> to, e;
    static vector<T, M> of_rows;
    static vector<T, N> of_columns;
    bench::share(a, b, c, turned, row, column, to, e, of_rows, of_columns);
    std::string const size =
        std::to_string(M) + "x" + std::to_string(N) + (std::is_same_v<T, double> ? "/double" : "");
    auto const add = [&](char const* name, auto const& f) { bench::add(name, size, f); };
    add("multiply_add", [] { to = a * b + c; });
    add("chain", [] { to = (a * b + c) * (a - b) / c + 0.5 * a; });
    add("broadcast", [] { to = (a - row) * column; });
    add("exp", [] { to = cn::exp(a) * b; });
    add("sigmoid", [] { to = 1 / (1 + cn::exp(-(a * b + c))); });
    add("tanh", [] { to = cn::tanh(a); });
    add("tanh_chain", [] { to = cn::tanh(a * b + c) * b; });
    add("erf", [] { to = 0.5 * a * (1 + cn::erf(a * 0.70710678)); });
    add("softmax", [] {
        e = cn::exp(a - cn::max<1>(a, cn::keepdims));
        to = e / cn::sum<1>(e, cn::keepdims);
    });
    add("transpose", [] { to = cn::transpose(turned); });
    add("transpose_add", [] { to = cn::transpose(turned) + b; });
    add("clip", [] { to = cn::minimum(cn::maximum(a, 0.75), 1.25); });
    add("sum", [] { benchmark::DoNotOptimize(cn::sum(a)); });
    add("sum_rows", [] { of_rows = cn::sum<1>(a); });
    add("sum_columns", [] { of_columns = cn::sum<0>(a); });
    add("mean_rows", [] { of_rows = cn::mean<1>(a * b); });
    add("mean_columns", [] { of_columns = cn::mean<0>(a * b); });
    add("max", [] { benchmark::DoNotOptimize(cn::max(a)); });
    add("max_rows", [] { of_rows = cn::max<1>(a); });
    add("max_columns", [] { of_columns = cn::max<0>(a); });
    add("argmax", [] { benchmark::DoNotOptimize(cn::argmax(a)); });
    add("squared_distance", [] { benchmark::DoNotOptimize(cn::sum(cn::square(a - b))); });
}

// Expressions of tensors so small that their shapes are most of what there is to know.
template <size_t M, size_t N = M>
void add_small_expressions() {
    static auto a = numbers<matrix<float, M, N>>(0), b = numbers<matrix<float, M, N>>(1);
    static matrix<float, M, N> to;
    bench::share(a, b, to);
    std::string const size = std::to_string(M) + "x" + std::to_string(N);
    auto const add = [&](char const* name, auto const& f) { bench::add(name, size, f); };
    add("small_chain", [] { to = a * b + a / b; });
    add("small_sum", [] { benchmark::DoNotOptimize(cn::sum(a)); });
    if constexpr (M == N) {
        add("small_transpose", [] { to = cn::transpose(a); });
    }
}

template <class T, size_t M, size_t K = M, size_t N = M>
void add_product() {
    static auto a = numbers<matrix<T, M, K>>(0);
    static auto b = numbers<matrix<T, K, N>>(1);
    static matrix<T, M, N> to;
    bench::share(a, b, to);
    std::string const size = std::to_string(M) + "x" + std::to_string(K) + "x" + std::to_string(N) +
                             (std::is_same_v<T, double> ? "/double" : "");
    add_counted("matmul", size, 2.0 * M * K * N, [] { to = cn::matmul(a, b); });
}

// The products of Batch pairs of N x N matrices
template <size_t Batch, size_t N>
void add_batched_product() {
    using tensor = cn::tensor<float, cn::shape<Batch, N, N>>;
    static auto a = numbers<tensor>(0), b = numbers<tensor>(1);
    static tensor to;
    bench::share(a, b, to);
    std::string const size =
        std::to_string(Batch) + "x" + std::to_string(N) + "x" + std::to_string(N);
    add_counted("batched_matmul", size, 2.0 * Batch * N * N * N, [] { to = cn::matmul(a, b); });
}

template <size_t N>
void add_vector_product() {
    static auto a = numbers<matrix<float, N>>(0);
    static auto x = numbers<vector<float, N>>(1);
    static vector<float, N> to;
    bench::share(a, x, to);
    add_counted("matvec", std::to_string(N), 2.0 * N * N, [] { to = cn::matmul(a, x); });
}

bool const added = [] {
    add_expressions<float, 1000, 1000>();
    add_expressions<float, 100, 100>();
    add_expressions<float, 33, 1001>(); // long rows that are no multiples of vectors
    add_expressions<float, 2003, 7>();  // short ones
    add_expressions<double, 100, 100>();
    add_small_expressions<3>();
    add_small_expressions<4>();
    add_small_expressions<1, 16>();
    add_small_expressions<16>();
    add_product<float, 3>();
    add_product<float, 4>();
    add_product<float, 16>();
    add_product<float, 32>();
    add_product<float, 64>();
    add_product<float, 65>();
    add_product<float, 128>();
    add_product<float, 256>();
    add_product<float, 512>();
    add_product<float, 1024>();
    add_product<float, 128, 784, 64>();
    add_product<double, 128>();
    add_batched_product<1000, 4>();
    add_batched_product<256, 8>();
    add_batched_product<64, 32>();
    add_vector_product<100>();
    add_vector_product<512>();
    return true;
}();

} // namespace
