// Products of a single row whose matrix is read in either direction: the same bits.
#include <castnet/device/cpu/small_product.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cpu = castnet::cpu;

namespace {

template <class T>
std::vector<T> waves(int count, double phase) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        all[static_cast<std::size_t>(i)] = T(std::sin(1.7 * i + phase));
    }
    return all;
}

template <int Depth, int Columns, class T>
std::vector<T> product(std::vector<T> const& a, std::vector<T> const& b, T const* bias,
                       bool backwards) {
    std::vector<T> c(Columns);
    cpu::alternating_row_product<Depth, Columns>(a.data(), b.data(), c.data(), bias, backwards);
    return c;
}

} // namespace

TEST_CASE_TEMPLATE("rows of the matrix in either direction", T, float, double) {
    constexpr int depth = 70, columns = 3 * cpu::simd<T>::width;
    auto const a = waves<T>(depth, 1), b = waves<T>(depth * columns, 2),
               bias = waves<T>(columns, 3);
    for (T const* const shift : {static_cast<T const*>(nullptr), bias.data()}) {
        auto const c = product<depth, columns>(a, b, shift, false);
        CHECK(c == product<depth, columns>(a, b, shift, true));
        for (std::size_t j = 0; j < columns; ++j) {
            double sum = shift ? double(shift[j]) : 0;
            for (std::size_t k = 0; k < depth; ++k) {
                sum += double(a[k]) * double(b[k * columns + j]);
            }
            CHECK(double(c[j]) == doctest::Approx(sum).epsilon(1e-5));
        }
    }
}

TEST_CASE("only matrices that an L1 cache does not hold, and whose row registers do") {
    constexpr int most = cpu::vector_registers / 2 * cpu::simd<float>::width;
    CHECK(cpu::reads_alternately<8192 / most + 1, most, float>());
    CHECK_FALSE(cpu::reads_alternately<8192 / most, most, float>());
    CHECK_FALSE(cpu::reads_alternately<8192, most + cpu::simd<float>::width, float>());
    CHECK_FALSE(cpu::reads_alternately<8192, most - 1, float>());
}
