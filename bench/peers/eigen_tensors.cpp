// The expressions, reductions and products of bench_tensors in Eigen, on one thread.
#include "../tensors.hpp"

#include <Eigen/Dense>
#include <benchmark/benchmark.h>
#include <cmath>
#include <string>
#include <type_traits>
#include <unsupported/Eigen/SpecialFunctions>

namespace {

bool const named = [] {
    benchmark::AddCustomContext("library", "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
                                               std::to_string(EIGEN_MAJOR_VERSION) + "." +
                                               std::to_string(EIGEN_MINOR_VERSION));
    return true;
}();

// Sizes up to Eigen's own limit for its small matrices are fixed, larger ones dynamic.
template <class T, int M, int N = M>
using matrix = Eigen::Matrix<T, (M <= 16 ? M : Eigen::Dynamic), (N <= 16 ? N : Eigen::Dynamic),
                             N == 1 ? Eigen::ColMajor : Eigen::RowMajor>;

// Numbers between 0.5 and 1.5
template <class T, int M, int N = M>
matrix<T, M, N> numbers(int phase) {
    matrix<T, M, N> to(M, N);
    for (Eigen::Index i = 0; i < to.size(); ++i) {
        to.data()[i] = T(1) + T(0.5) * std::sin(static_cast<T>(phase) + static_cast<T>(i));
    }
    return to;
}

template <class T, int M, int N>
void add_expressions() {
    using array = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using vector = Eigen::Array<T, Eigen::Dynamic, 1>;
    static array a = numbers<T, M, N>(0).array(), b = numbers<T, M, N>(1).array(),
                 c = numbers<T, M, N>(2).array();
    static array turned = numbers<T, N, M>(5).array();
    static Eigen::Array<T, 1, Eigen::Dynamic> row = numbers<T, N, 1>(3).transpose().array();
    static vector column = numbers<T, M, 1>(4).array();
    static array to(M, N), e(M, N);
    static vector of_rows(M), of_columns(N);
    bench::share(a, b, c, turned, row, column, to, e, of_rows, of_columns);
    static constexpr T half = T(0.5), low = T(0.75), high = T(1.25);
    std::string const size =
        std::to_string(M) + "x" + std::to_string(N) + (std::is_same_v<T, double> ? "/double" : "");
    auto const add = [&](char const* name, auto const& f) { bench::add(name, size, f); };
    add("multiply_add", [] { to = a * b + c; });
    add("chain", [] { to = (a * b + c) * (a - b) / c + half * a; });
    add("broadcast", [] { to = (a.rowwise() - row).colwise() * column; });
    add("exp", [] { to = a.exp() * b; });
    add("sigmoid", [] { to = 1 / (1 + (-(a * b + c)).exp()); });
    add("tanh", [] { to = a.tanh(); });
    add("tanh_chain", [] { to = (a * b + c).tanh() * b; });
    add("erf", [] { to = half * a * (1 + (a * T(0.70710678)).erf()); });
    add("softmax", [] {
        e = (a.colwise() - a.rowwise().maxCoeff()).exp();
        to = e.colwise() / e.rowwise().sum();
    });
    add("transpose", [] { to = turned.transpose(); });
    add("transpose_add", [] { to = turned.transpose() + b; });
    add("clip", [] { to = a.max(low).min(high); });
    add("sum", [] { benchmark::DoNotOptimize(a.sum()); });
    add("sum_rows", [] { of_rows = a.rowwise().sum(); });
    add("sum_columns", [] { of_columns = a.colwise().sum(); });
    add("mean_rows", [] { of_rows = (a * b).rowwise().mean(); });
    add("mean_columns", [] { of_columns = (a * b).colwise().mean(); });
    add("max", [] { benchmark::DoNotOptimize(a.maxCoeff()); });
    add("max_rows", [] { of_rows = a.rowwise().maxCoeff(); });
    add("max_columns", [] { of_columns = a.colwise().maxCoeff(); });
    add("argmax", [] {
        Eigen::Index i, j;
        a.maxCoeff(&i, &j);
        benchmark::DoNotOptimize(i * N + j);
    });
    add("squared_distance", [] { benchmark::DoNotOptimize((a - b).square().sum()); });
}

template <int M, int N = M>
void add_small_expressions() {
    static auto a = numbers<float, M, N>(0), b = numbers<float, M, N>(1);
    static matrix<float, M, N> to;
    bench::share(a, b, to);
    std::string const size = std::to_string(M) + "x" + std::to_string(N);
    auto const add = [&](char const* name, auto const& f) { bench::add(name, size, f); };
    add("small_chain", [] { to = a.array() * b.array() + a.array() / b.array(); });
    add("small_sum", [] { benchmark::DoNotOptimize(a.sum()); });
    if constexpr (M == N) {
        add("small_transpose", [] { to = a.transpose(); });
    }
}

template <class T, int M, int K = M, int N = M>
void add_product() {
    static matrix<T, M, K> a = numbers<T, M, K>(0);
    static matrix<T, K, N> b = numbers<T, K, N>(1);
    static matrix<T, M, N> to(M, N);
    bench::share(a, b, to);
    std::string const size = std::to_string(M) + "x" + std::to_string(K) + "x" + std::to_string(N) +
                             (std::is_same_v<T, double> ? "/double" : "");
    bench::add("matmul", size, [] { to.noalias() = a * b; });
}

template <int Batch, int N>
void add_batched_product() {
    using one = matrix<float, N>;
    static auto a = numbers<float, Batch * N, N>(0), b = numbers<float, Batch * N, N>(1);
    static matrix<float, Batch * N, N> to(Batch * N, N);
    bench::share(a, b, to);
    std::string const size =
        std::to_string(Batch) + "x" + std::to_string(N) + "x" + std::to_string(N);
    bench::add("batched_matmul", size, [] {
        for (int i = 0; i < Batch; ++i) {
            int const at = i * N * N;
            Eigen::Map<one>(to.data() + at, N, N).noalias() =
                Eigen::Map<one const>(a.data() + at, N, N) *
                Eigen::Map<one const>(b.data() + at, N, N);
        }
    });
}

template <int N>
void add_vector_product() {
    static matrix<float, N> a = numbers<float, N>(0);
    static Eigen::VectorXf x = numbers<float, N, 1>(1);
    static Eigen::VectorXf to(N);
    bench::share(a, x, to);
    bench::add("matvec", std::to_string(N), [] { to.noalias() = a * x; });
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
