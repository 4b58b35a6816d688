// Products of matrices in every layout of their factors, in pieces of rows and parts of the depth:
// against sums in double, and on several threads.
#include <castnet/device/cpu/matmul.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

namespace cpu = castnet::cpu;

namespace {

struct sizes {
    std::ptrdiff_t m, n, k;
};

template <class T>
std::vector<T> waves(std::ptrdiff_t count, double phase) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = T(std::sin(1.7 * double(i) + phase));
    }
    return all;
}

// Elements (i, j) of a matrix as it lies, or turned.
template <class T>
cpu::matrix<T> lying(std::vector<T> const& all, std::ptrdiff_t rows, std::ptrdiff_t columns,
                     bool turned) {
    return turned ? cpu::matrix<T>{all.data(), 1, rows} : cpu::matrix<T>{all.data(), columns, 1};
}

// A product on so many threads, added to numbers, with as much memory after the right factor as
// vectors may read.
template <class T>
std::vector<T> product_on(int threads, sizes s, bool a_turned, bool b_turned, bool adds) {
    auto const a = waves<T>(s.m * s.k, 1), b = waves<T>(s.k * s.n + 2 * cpu::simd<T>::width, 2);
    auto c = waves<T>(s.m * s.n, 3);
    int const before = cpu::thread_count();
    cpu::set_thread_count(threads);
    cpu::multiply<T>(s.m, s.n, s.k, lying(a, s.m, s.k, a_turned), lying(b, s.k, s.n, b_turned),
                     c.data(), s.n, {.accumulate = adds});
    cpu::set_thread_count(before);
    return c;
}

template <class T>
double farthest(std::vector<T> const& c, sizes s, bool a_turned, bool b_turned, bool adds) {
    auto const a = waves<T>(s.m * s.k, 1), b = waves<T>(s.k * s.n, 2),
               start = waves<T>(s.m * s.n, 3);
    auto const left = lying(a, s.m, s.k, a_turned), right = lying(b, s.k, s.n, b_turned);
    double most = 0;
    for (std::ptrdiff_t i = 0; i < s.m; i += i < s.m - 8 ? 7 : 1) {
        for (std::ptrdiff_t j = 0; j < s.n; ++j) {
            auto const at = static_cast<std::size_t>(i * s.n + j);
            double sum = adds ? double(start[at]) : 0;
            for (std::ptrdiff_t k = 0; k < s.k; ++k) {
                sum += double(left.data[i * left.row + k * left.column]) *
                       double(right.data[k * right.row + j * right.column]);
            }
            most = std::max(most, std::abs(sum - double(c[at])));
        }
    }
    return most;
}

template <class Check>
void each_way(Check const& check) {
    for (sizes const s : {sizes{601, 70, 300},
                          {80, 130, 600},
                          {72, 200, 530},
                          {73, 129, 33},
                          {1160, 20, 40},
                          {64, 24, 96},
                          {130, 9, 700},
                          {70, 40, 100},
                          {16, 230, 600},
                          {12, 300, 20},
                          {9, 65, 1030}}) {
        for (int way = 0; way < 8; ++way) {
            bool const a_turned = way % 2 == 1, b_turned = way / 2 % 2 == 1, adds = way / 4 == 1;
            CAPTURE(s.m);
            CAPTURE(a_turned);
            CAPTURE(b_turned);
            CAPTURE(adds);
            check(s, a_turned, b_turned, adds);
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("products of factors that lie in either way", T, float, double) {
    each_way([](sizes s, bool a_turned, bool b_turned, bool adds) {
        auto const product = product_on<T>(1, s, a_turned, b_turned, adds);
        CHECK(farthest(product, s, a_turned, b_turned, adds) < (sizeof(T) > 4 ? 1e-11 : 2e-3));
    });
}

TEST_CASE_TEMPLATE("threads do not change products of factors that lie in either way", T, float,
                   double) {
    each_way([](sizes s, bool a_turned, bool b_turned, bool adds) {
        auto const alone = product_on<T>(1, s, a_turned, b_turned, adds);
        for (int const threads : {2, 3, 8}) {
            CHECK(product_on<T>(threads, s, a_turned, b_turned, adds) == alone);
        }
    });
}

TEST_CASE_TEMPLATE("rows that fill vectors have the bits of others, whose product is not turned", T,
                   float, double) {
    constexpr std::ptrdiff_t width = cpu::simd<T>::width;
    for (std::ptrdiff_t m = width; m <= cpu::tile_columns<T>; m += width) {
        if (m <= cpu::most_few_rows_turned) {
            continue;
        }
        for (std::ptrdiff_t const k : {100, 1030}) {
            auto const filled = product_on<T>(1, {m, 230, k}, false, true, false);
            auto more = product_on<T>(1, {m + 1, 230, k}, false, true, false);
            more.resize(filled.size());
            CAPTURE(m);
            CAPTURE(k);
            CHECK(filled == more);
        }
    }
}

// Rows of a product with packed panels, with a bias and added to numbers.
template <class T>
std::vector<T> packed_product(sizes s, bool backwards) {
    auto const a = waves<T>(s.m * s.k, 1), b = waves<T>(s.k * s.n + 2 * cpu::simd<T>::width, 2),
               bias = waves<T>(s.n + 2 * cpu::simd<T>::width, 4);
    std::vector<T> panels(static_cast<std::size_t>(cpu::packed_size<T>(s.k, s.n)));
    cpu::pack_panels<T>(s.k, s.n, {b.data(), s.n, 1}, panels.data());
    auto c = waves<T>(s.m * s.n, 3);
    cpu::multiply_blocks<T>({s.m,
                             s.n,
                             s.k,
                             {a.data(), s.k, 1},
                             {b.data(), s.n, 1},
                             c.data(),
                             s.n,
                             {.accumulate = true, .bias = bias.data()}},
                            panels.data(), backwards);
    return c;
}

TEST_CASE_TEMPLATE("few rows with packed panels in either direction have the bits of many rows", T,
                   float, double) {
    for (std::ptrdiff_t const k : {5, 64, 300, 700}) {
        for (std::ptrdiff_t const n : {40, 200, 256}) {
            auto const many = packed_product<T>({14, n, k}, false);
            for (std::ptrdiff_t m = 1; m <= cpu::tile_rows + 1; ++m) {
                for (bool const backwards : {false, true}) {
                    CAPTURE(k);
                    CAPTURE(n);
                    CAPTURE(m);
                    auto const few = packed_product<T>({m, n, k}, backwards);
                    CHECK(std::equal(few.begin(), few.end(), many.begin()));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("sums without the rows of zeros of a gradient have the same bits", T, float,
                   double) {
    constexpr std::ptrdiff_t steps = 50; // of a sample, of which others end earlier
    for (sizes const s : {sizes{64, 200, 1200},
                          {72, 129, 600},
                          {128, 512, 1600},
                          {130, 70, 550},
                          {7, 300, 250},
                          {40, 24, 300},
                          {90, 5, 300},
                          {64, 200, 50}}) {
        CAPTURE(s.m);
        CAPTURE(s.n);
        auto a = waves<T>(s.m * s.k, 1), b = waves<T>(s.k * s.n + 2 * cpu::simd<T>::width, 2);
        for (std::ptrdiff_t k = 0; k < s.k; ++k) {
            for (std::ptrdiff_t j = 0; j < s.n && k % steps >= k / steps * 37 % steps; ++j) {
                b[static_cast<std::size_t>(k * s.n + j)] = j % 2 == 0 ? T(0) : -T(0);
            }
        }
        auto const product = [&](int threads, bool has_zeros) {
            std::vector<T> c(static_cast<std::size_t>(s.m * s.n));
            int const before = cpu::thread_count();
            cpu::set_thread_count(threads);
            cpu::multiply<T>(s.m, s.n, s.k, {a.data(), 1, s.m}, {b.data(), s.n, 1}, c.data(), s.n,
                             {}, has_zeros);
            cpu::set_thread_count(before);
            return c;
        };
        auto const same = [](std::vector<T> const& x, std::vector<T> const& y) {
            return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
        };
        auto const whole = product(1, false);
        for (int const threads : {1, 3}) {
            CHECK(same(product(threads, true), whole));
        }
        // Zeros times what is not finite.
        a[0] = std::numeric_limits<T>::infinity();
        b[0] = 0;
        auto const with_nan = product(1, true);
        CHECK(std::isnan(with_nan[0]));
        CHECK(with_nan.back() == whole.back());
    }
}
