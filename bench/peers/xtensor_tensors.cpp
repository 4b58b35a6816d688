// The expressions and reductions of bench_tensors in xtensor, on one thread. (Products need another
// library.)
#include "../tensors.hpp"

#include <benchmark/benchmark.h>
#include <string>
#include <type_traits>
#include <xtensor/xfixed.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xtensor_config.hpp>

namespace {

bool const named = [] {
    benchmark::AddCustomContext("library", "xtensor " + std::to_string(XTENSOR_VERSION_MAJOR) +
                                               "." + std::to_string(XTENSOR_VERSION_MINOR) + "." +
                                               std::to_string(XTENSOR_VERSION_PATCH));
    return true;
}();

template <class T>
using matrix = xt::xtensor<T, 2>;
template <class T>
using vector = xt::xtensor<T, 1>;

// Numbers between 0.5 and 1.5
template <class Tensor, class... Extent>
Tensor numbers(int phase, Extent... extent) {
    auto to = Tensor::from_shape({static_cast<std::size_t>(extent)...});
    using T = typename Tensor::value_type;
    for (std::size_t i = 0; i < to.size(); ++i) {
        to.data()[i] = T(1) + T(0.5) * std::sin(static_cast<T>(phase) + static_cast<T>(i));
    }
    return to;
}

template <class T>
void add_expressions(std::size_t m, std::size_t n) {
    struct operands {
        matrix<T> a, b, c, turned, column, to, e;
        vector<T> row, of_rows, of_columns;
    };
    auto& x = *new operands{numbers<matrix<T>>(0, m, n), numbers<matrix<T>>(1, m, n),
                            numbers<matrix<T>>(2, m, n), numbers<matrix<T>>(5, n, m),
                            numbers<matrix<T>>(4, m, 1), numbers<matrix<T>>(0, m, n),
                            numbers<matrix<T>>(0, m, n), numbers<vector<T>>(3, n),
                            numbers<vector<T>>(0, m),    numbers<vector<T>>(0, n)};
    bench::share(x.a, x.b, x.c, x.turned, x.column, x.to, x.e, x.row, x.of_rows, x.of_columns);
    static constexpr T half = T(0.5), root = T(0.70710678);
    static constexpr auto now = xt::evaluation_strategy::immediate;
    std::string const size =
        std::to_string(m) + "x" + std::to_string(n) + (std::is_same_v<T, double> ? "/double" : "");
    auto const add = [&](char const* name, auto const& f) {
        bench::add(name, size, [f, &x] { f(x); });
    };
    add("multiply_add", [](auto& o) { xt::noalias(o.to) = o.a * o.b + o.c; });
    add("chain",
        [](auto& o) { xt::noalias(o.to) = (o.a * o.b + o.c) * (o.a - o.b) / o.c + half * o.a; });
    add("broadcast", [](auto& o) { xt::noalias(o.to) = (o.a - o.row) * o.column; });
    add("exp", [](auto& o) { xt::noalias(o.to) = xt::exp(o.a) * o.b; });
    add("sigmoid",
        [](auto& o) { xt::noalias(o.to) = T(1) / (T(1) + xt::exp(-(o.a * o.b + o.c))); });
    add("tanh", [](auto& o) { xt::noalias(o.to) = xt::tanh(o.a); });
    add("tanh_chain", [](auto& o) { xt::noalias(o.to) = xt::tanh(o.a * o.b + o.c) * o.b; });
    add("erf", [](auto& o) { xt::noalias(o.to) = half * o.a * (T(1) + xt::erf(o.a * root)); });
    add("softmax", [](auto& o) {
        matrix<T> const largest = xt::amax(o.a, {1}, xt::keep_dims | now);
        xt::noalias(o.e) = xt::exp(o.a - largest);
        matrix<T> const total = xt::sum(o.e, {1}, xt::keep_dims | now);
        xt::noalias(o.to) = o.e / total;
    });
    add("transpose", [](auto& o) { xt::noalias(o.to) = xt::transpose(o.turned); });
    add("transpose_add", [](auto& o) { xt::noalias(o.to) = xt::transpose(o.turned) + o.b; });
    add("clip", [](auto& o) { xt::noalias(o.to) = xt::clip(o.a, T(0.75), T(1.25)); });
    add("sum", [](auto& o) { benchmark::DoNotOptimize(xt::sum(o.a, now)()); });
    add("sum_rows", [](auto& o) { o.of_rows = xt::sum(o.a, {1}, now); });
    add("sum_columns", [](auto& o) { o.of_columns = xt::sum(o.a, {0}, now); });
    add("mean_rows", [](auto& o) { o.of_rows = xt::mean(o.a * o.b, {1}, now); });
    add("mean_columns", [](auto& o) { o.of_columns = xt::mean(o.a * o.b, {0}, now); });
    add("max", [](auto& o) { benchmark::DoNotOptimize(xt::amax(o.a, now)()); });
    add("max_rows", [](auto& o) { o.of_rows = xt::amax(o.a, {1}, now); });
    add("max_columns", [](auto& o) { o.of_columns = xt::amax(o.a, {0}, now); });
    add("argmax", [](auto& o) { benchmark::DoNotOptimize(xt::argmax(o.a)()); });
    add("squared_distance",
        [](auto& o) { benchmark::DoNotOptimize(xt::sum(xt::square(o.a - o.b), now)()); });
}

template <std::size_t M, std::size_t N = M>
void add_small_expressions() {
    using small = xt::xtensor_fixed<float, xt::xshape<M, N>>;
    static small a, b, to;
    for (std::size_t i = 0; i < a.size(); ++i) {
        a.data()[i] = 1 + 0.5F * std::sin(static_cast<float>(i));
        b.data()[i] = 1 + 0.5F * std::sin(static_cast<float>(i + 1));
    }
    bench::share(a, b, to);
    std::string const size = std::to_string(M) + "x" + std::to_string(N);
    auto const add = [&](char const* name, auto const& f) { bench::add(name, size, f); };
    add("small_chain", [] { xt::noalias(to) = a * b + a / b; });
    add("small_sum",
        [] { benchmark::DoNotOptimize(xt::sum(a, xt::evaluation_strategy::immediate)()); });
    if constexpr (M == N) {
        add("small_transpose", [] { xt::noalias(to) = xt::transpose(a); });
    }
}

bool const added = [] {
    add_expressions<float>(1000, 1000);
    add_expressions<float>(100, 100);
    add_expressions<float>(33, 1001); // long rows that are no multiples of vectors
    add_expressions<float>(2003, 7);  // short ones
    add_expressions<double>(100, 100);
    add_small_expressions<3>();
    add_small_expressions<4>();
    add_small_expressions<1, 16>();
    add_small_expressions<16>();
    return true;
}();

} // namespace
