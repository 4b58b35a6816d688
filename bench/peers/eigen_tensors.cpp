// The expressions, reductions and products of bench_tensors in Eigen, on one thread.
#include <Eigen/Dense>
#include <benchmark/benchmark.h>
#include <cmath>
#include <string>

namespace {

bool const named = [] {
    benchmark::AddCustomContext("library", "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
                                               std::to_string(EIGEN_MAJOR_VERSION) + "." +
                                               std::to_string(EIGEN_MINOR_VERSION));
    return true;
}();

// Sizes up to Eigen's own limit for its small matrices are fixed, larger ones dynamic.
template <int M, int N = M>
using matrix = Eigen::Matrix<float, (M <= 16 ? M : Eigen::Dynamic), (N <= 16 ? N : Eigen::Dynamic),
                             N == 1 ? Eigen::ColMajor : Eigen::RowMajor>;

// Numbers between 0.5 and 1.5
template <int M, int N = M>
matrix<M, N> numbers(float phase) {
    matrix<M, N> to(M, N);
    for (Eigen::Index i = 0; i < to.size(); ++i) {
        to.data()[i] = 1 + 0.5F * std::sin(phase + static_cast<float>(i));
    }
    return to;
}

template <class F>
void repeat(benchmark::State& state, F const& f) {
    for ([[maybe_unused]] auto _ : state) {
        f();
        benchmark::ClobberMemory();
    }
}

template <int N>
void add_expressions() {
    using array = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    static array const a = numbers<N>(0).array(), b = numbers<N>(1).array(),
                       c = numbers<N>(2).array();
    static Eigen::Array<float, 1, Eigen::Dynamic> const row = numbers<N, 1>(3).transpose().array();
    static Eigen::ArrayXf const column = numbers<N, 1>(4).array();
    static array to(N, N);
    static Eigen::ArrayXf line(N);
    auto const add = [](char const* name, auto const& f) {
        benchmark::RegisterBenchmark((std::string(name) + "/" + std::to_string(N)).c_str(),
                                     [f](benchmark::State& state) { repeat(state, f); });
    };
    add("multiply_add", [] { to = a * b + c; });
    add("broadcast", [] { to = (a.rowwise() - row).colwise() * column; });
    add("exp", [] { to = a.exp() * b; });
    add("sigmoid", [] { to = 1 / (1 + (-(a * b + c)).exp()); });
    add("tanh", [] { to = a.tanh(); });
    add("transpose_add", [] { to = a.transpose() + b; });
    add("clip", [] { to = a.max(0.75F).min(1.25F); });
    add("sum", [] { benchmark::DoNotOptimize(a.sum()); });
    add("sum_rows", [] { line = a.rowwise().sum(); });
    add("sum_columns", [] { line = a.colwise().sum(); });
    add("max", [] { benchmark::DoNotOptimize(a.maxCoeff()); });
    add("max_rows", [] { line = a.rowwise().maxCoeff(); });
    add("max_columns", [] { line = a.colwise().maxCoeff(); });
    add("argmax", [] {
        Eigen::Index i, j;
        a.maxCoeff(&i, &j);
        benchmark::DoNotOptimize(i * N + j);
    });
    add("squared_distance", [] { benchmark::DoNotOptimize((a - b).square().sum()); });
}

template <int M, int K = M, int N = M>
void add_product() {
    static matrix<M, K> const a = numbers<M, K>(0);
    static matrix<K, N> const b = numbers<K, N>(1);
    static matrix<M, N> to(M, N);
    std::string const size = std::to_string(M) + "x" + std::to_string(K) + "x" + std::to_string(N);
    benchmark::RegisterBenchmark(("matmul/" + size).c_str(), [](benchmark::State& state) {
        repeat(state, [] { to.noalias() = a * b; });
    });
}

template <int N>
void add_vector_product() {
    static matrix<N> const a = numbers<N>(0);
    static Eigen::VectorXf const x = numbers<N, 1>(1);
    static Eigen::VectorXf to(N);
    benchmark::RegisterBenchmark(
        ("matvec/" + std::to_string(N)).c_str(),
        [](benchmark::State& state) { repeat(state, [] { to.noalias() = a * x; }); });
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
