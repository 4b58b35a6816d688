// Expressions, reductions and products of tensors on one thread.
#include <castnet/tensor/tensor.hpp>

#include "peak.hpp"

#include <benchmark/benchmark.h>
#include <string>

namespace {

namespace cn = castnet;

template <size_t M, size_t N = M>
using matrix = cn::tensor<float, cn::shape<M, N>>;
template <size_t N>
using vector = cn::tensor<float, cn::shape<N>>;

// Numbers between 0.5 and 1.5
template <class Tensor>
Tensor numbers(float phase) {
    return 1 + 0.5F * cn::sin(Tensor::arange(phase));
}

template <class F>
void repeat(benchmark::State& state, double flops, F const& f) {
    bench::meter const clock;
    for ([[maybe_unused]] auto _ : state) {
        f();
        benchmark::ClobberMemory();
    }
    if (flops > 0) {
        clock.report(state, flops);
    }
}

// Element-wise expressions and reductions of matrices with N rows and columns.
template <size_t N>
void add_expressions() {
    static auto const a = numbers<matrix<N>>(0), b = numbers<matrix<N>>(1),
                      c = numbers<matrix<N>>(2);
    static auto const row = numbers<vector<N>>(3);
    static auto const column = numbers<matrix<N, 1>>(4);
    static matrix<N> to;
    static vector<N> line;
    auto const add = [](char const* name, auto const& f) {
        benchmark::RegisterBenchmark((std::string(name) + "/" + std::to_string(N)).c_str(),
                                     [f](benchmark::State& state) { repeat(state, 0, f); });
    };
    add("multiply_add", [] { to = a * b + c; });
    add("broadcast", [] { to = (a - row) * column; });
    add("exp", [] { to = cn::exp(a) * b; });
    add("sigmoid", [] { to = 1 / (1 + cn::exp(-(a * b + c))); });
    add("tanh", [] { to = cn::tanh(a); });
    add("transpose_add", [] { to = cn::transpose(a) + b; });
    add("clip", [] { to = cn::minimum(cn::maximum(a, 0.75F), 1.25F); });
    add("sum", [] { benchmark::DoNotOptimize(cn::sum(a)); });
    add("sum_rows", [] { line = cn::sum<1>(a); });
    add("sum_columns", [] { line = cn::sum<0>(a); });
    add("max", [] { benchmark::DoNotOptimize(cn::max(a)); });
    add("max_rows", [] { line = cn::max<1>(a); });
    add("max_columns", [] { line = cn::max<0>(a); });
    add("argmax", [] { benchmark::DoNotOptimize(cn::argmax(a)); });
    add("squared_distance", [] { benchmark::DoNotOptimize(cn::sum((a - b) * (a - b))); });
}

template <size_t M, size_t K = M, size_t N = M>
void add_product() {
    static auto const a = numbers<matrix<M, K>>(0);
    static auto const b = numbers<matrix<K, N>>(1);
    static matrix<M, N> to;
    std::string const size = std::to_string(M) + "x" + std::to_string(K) + "x" + std::to_string(N);
    benchmark::RegisterBenchmark(("matmul/" + size).c_str(), [](benchmark::State& state) {
        repeat(state, 2.0 * M * K * N, [] { to = cn::matmul(a, b); });
    });
}

template <size_t N>
void add_vector_product() {
    static auto const a = numbers<matrix<N>>(0);
    static auto const x = numbers<vector<N>>(1);
    static vector<N> to;
    benchmark::RegisterBenchmark(
        ("matvec/" + std::to_string(N)).c_str(),
        [](benchmark::State& state) { repeat(state, 2.0 * N * N, [] { to = cn::matmul(a, x); }); });
}

bool const added = [] {
    add_expressions<1000>();
    add_expressions<100>();
    add_product<3>();
    add_product<4>();
    add_product<16>();
    add_product<64>();
    add_product<512>();
    add_product<128, 784, 64>();
    add_vector_product<512>();
    return true;
}();

} // namespace
