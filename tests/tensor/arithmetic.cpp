// Expressions of tensors: values, broadcasting, element types, lifetimes, aliasing.
#include <castnet/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <iterator>
#include <limits>

using namespace castnet;

using matrix = tensor<float, shape<2, 3>>;
using vector = tensor<float, shape<3>>;
using column = tensor<float, shape<2, 1>>;
using square_matrix = tensor<double, shape<3, 3>>;

namespace {

matrix sample() {
    return {{1, -2, 3}, {-4, 5, -6}};
}

} // namespace

TEST_CASE("operators work element by element") {
    matrix const a = sample();
    matrix const b{{2, 4, 8}, {2, 4, 8}};
    CHECK(array_equal(a + b, matrix{{3, 2, 11}, {-2, 9, 2}}));
    CHECK(array_equal(a - b, matrix{{-1, -6, -5}, {-6, 1, -14}}));
    CHECK(array_equal(a * b, matrix{{2, -8, 24}, {-8, 20, -48}}));
    CHECK(array_equal(a / b, matrix{{0.5, -0.5, 0.375}, {-2, 1.25, -0.75}}));
    CHECK(array_equal(-a, matrix{{-1, 2, -3}, {4, -5, 6}}));
    CHECK(array_equal(a < b, matrix{{1, 1, 1}, {1, 0, 1}}));
    CHECK(array_equal(a <= 1, matrix{{1, 1, 0}, {1, 0, 1}}));
    CHECK(array_equal(a > 1, matrix{{0, 0, 1}, {0, 1, 0}}));
    CHECK(array_equal(1 <= a, matrix{{1, 0, 1}, {0, 1, 0}}));
    CHECK(array_equal(a >= 3, matrix{{0, 0, 1}, {0, 1, 0}}));
    CHECK(array_equal(a == 3, matrix{{0, 0, 1}, {0, 0, 0}}));
    CHECK(array_equal(a != 3, matrix{{1, 1, 0}, {1, 1, 1}}));
}

TEST_CASE("numbers mix in on both sides") {
    matrix const a = sample();
    CHECK(array_equal(2 * a, a + a));
    CHECK(array_equal(1 - a, -(a - 1)));
    CHECK(allclose(6 / (a * a), 6 * (1 / a) / a));
}

TEST_CASE("shapes broadcast from the last axis on") {
    matrix const a = sample();
    vector const row{10, 20, 30};
    column const col{{100}, {200}};
    tensor<float, shape<>> const one = 1;
    CHECK(array_equal(a + row, matrix{{11, 18, 33}, {6, 25, 24}}));
    CHECK(array_equal(row + a, a + row));
    CHECK(array_equal(a + col, matrix{{101, 98, 103}, {196, 205, 194}}));
    CHECK(array_equal(row + col, matrix{{110, 120, 130}, {210, 220, 230}}));
    CHECK(array_equal(a + one, a + 1));
    CHECK(array_equal((row + one) * col + a, matrix{{1101, 2098, 3103}, {2196, 4205, 6194}}));

    tensor<float, shape<4, 1, 3>> const blocks = tensor<float, shape<4, 1, 3>>::arange();
    tensor const sum = blocks + a;
    static_assert(std::is_same_v<decltype(sum)::shape_type, shape<4, 2, 3>>);
    CHECK(sum(3, 1, 0) == 5);
    CHECK(sum(0, 0, 2) == 5);
}

TEST_CASE("every kind of function applies") {
    matrix const a = sample();
    tensor const e = castnet::exp(a);
    tensor const w = where(a > 0, a, 0.5F * a);
    tensor const m = maximum(a, 0);
    tensor const l = castnet::lerp(a, 2 * a, 0.5);
    for (size_t i = 0; i < a.size(); ++i) {
        float const x = a.data()[i];
        CHECK(e.data()[i] == doctest::Approx(std::exp(x)));
        CHECK(w.data()[i] == (x > 0 ? x : 0.5F * x));
        CHECK(m.data()[i] == (x > 0 ? x : 0));
        CHECK(l.data()[i] == 1.5F * x);
    }
    CHECK(array_equal(relu(a), m));
}

TEST_CASE("element types follow C++ arithmetic, but numbers do not widen floating tensors") {
    tensor<float, shape<2>> const f{1.5F, 2.5F};
    tensor<double, shape<2>> const d{0.5, 0.25};
    tensor<int, shape<2>> const i{3, 4};
    tensor<std::uint8_t, shape<2>> const pixels{200, 100};
    auto const type = [](auto const& x) {
        return typename std::remove_cvref_t<decltype(x)>::value_type{};
    };
    static_assert(std::is_same_v<decltype(type(f * 2.0)), float>);
    static_assert(std::is_same_v<decltype(type(f + i)), float>);
    static_assert(std::is_same_v<decltype(type(f + d)), double>);
    static_assert(std::is_same_v<decltype(type(i * 2)), int>);
    static_assert(std::is_same_v<decltype(type(i * 0.5)), double>);
    static_assert(std::is_same_v<decltype(type(castnet::sqrt(i))), double>);
    CHECK(array_equal(i * 0.5, tensor<double, shape<2>>{1.5, 2}));
    CHECK(array_equal(pixels + pixels, tensor<int, shape<2>>{400, 200})); // no wrapping at 255
    CHECK(evaluate(castnet::sqrt(i))(1) == 2.0);
}

TEST_CASE("an expression keeps temporaries alive and sees later changes of named tensors") {
    matrix a = sample();
    auto const e = a + matrix::full(1) * castnet::exp(matrix::zeros());
    CHECK(array_equal(e, sample() + 1));
    a = 5;
    CHECK(array_equal(e, 6));
}

TEST_CASE("in place operators broadcast the right side") {
    matrix a = sample();
    a += vector{1, 2, 3};
    CHECK(array_equal(a, matrix{{2, 0, 6}, {-3, 7, -3}}));
    a -= 1;
    a *= column{{1}, {2}};
    CHECK(array_equal(a, matrix{{1, -1, 5}, {-8, 12, -8}}));
    a /= a;
    CHECK(array_equal(a, 1));
    (a += 1) *= 3;
    CHECK(array_equal(a, 6));
    a = vector{1, 2, 3};
    CHECK(array_equal(a, matrix{{1, 2, 3}, {1, 2, 3}}));
}

TEST_CASE("a tensor may stand on both sides of an assignment, in any order") {
    auto const counted = square_matrix::arange();
    square_matrix const expected{{0, 4, 8}, {4, 8, 12}, {8, 12, 16}};

    square_matrix a = counted;
    a = a + transpose(a);
    CHECK(array_equal(a, expected));

    a = counted;
    a += transpose(a);
    CHECK(array_equal(a, expected));

    a = counted;
    transpose(a) += a;
    CHECK(array_equal(a, expected));

    a = counted;
    a -= a[0]; // the row changes while it is read
    CHECK(array_equal(a, square_matrix{{0, 0, 0}, {3, 3, 3}, {6, 6, 6}}));

    a = counted;
    slice<0, 1, 3>(a) = slice<0, 0, 2>(a); // the parts overlap
    CHECK(array_equal(a, square_matrix{{0, 1, 2}, {0, 1, 2}, {3, 4, 5}}));

    a = counted;
    a = a * 2 - a;
    CHECK(array_equal(a, counted));
}

TEST_CASE("so may a tensor that is not computed at once") {
    using large_matrix = tensor<float, shape<5, 5>>;
    auto const counted = large_matrix::arange(), once = counted;

    large_matrix a = counted;
    a = a + transpose(a);
    CHECK(array_equal(a, once + transpose(counted)));

    a = counted;
    transpose(a) += a;
    CHECK(array_equal(a, once + transpose(counted)));

    a = counted;
    a -= a[0];
    CHECK(array_equal(a, once - counted[0]));

    a = counted;
    slice<0, 1, 5>(a) = slice<0, 0, 4>(a);
    CHECK(array_equal(slice<0, 1, 5>(a), slice<0, 0, 4>(counted)));
}

TEST_CASE("blocks of every length are computed to the end") {
    // One more or less than the number of elements that are computed together
    tensor<float, shape<15>> const a = tensor<float, shape<15>>::arange();
    tensor<float, shape<17>> const b = tensor<float, shape<17>>::arange();
    tensor<float, shape<2, 33>> const c = tensor<float, shape<2, 33>>::arange();
    tensor const a2 = a * 2;
    tensor const b2 = b * 2;
    tensor const c2 = c + tensor<float, shape<33>>::ones();
    for (size_t i = 0; i < 15; ++i) {
        CHECK(a2(i) == 2 * static_cast<float>(i));
    }
    for (size_t i = 0; i < 17; ++i) {
        CHECK(b2(i) == 2 * static_cast<float>(i));
    }
    for (size_t i = 0; i < 66; ++i) {
        CHECK(c2.data()[i] == static_cast<float>(i + 1));
    }
}

// x = 2 x + 1 in its place, and of its root, of so many numbers.
template <class T, size_t... Count>
void change_in_place(std::index_sequence<Count...>) {
    auto const change = []<size_t N>(shape<N>) {
        tensor<T, shape<N>> x = tensor<T, shape<N>>::arange(), root = x * x;
        x = x * 2 + 1;
        root = castnet::sqrt(root);
        for (size_t i = 0; i < N; ++i) {
            REQUIRE(x(i) == static_cast<T>(2 * i + 1));
            REQUIRE(root(i) == static_cast<T>(i));
        }
    };
    (change(shape<Count>{}), ...);
}

TEST_CASE_TEMPLATE("numbers of any count are computed in their place once", T, float, double) {
    change_in_place<T>(std::index_sequence<1, 7, 9, 16, 17, 23, 25, 31, 33, 47, 527>{});
}

TEST_CASE("the magnitude of zeros is positive") {
    tensor const zeros = castnet::abs(tensor<float, shape<3>>{-0.0F, 0.0F, -1.0F});
    CHECK(!std::signbit(zeros(0)));
    CHECK(!std::signbit(zeros(1)));
    CHECK(zeros(2) == 1);
}

TEST_CASE("a number is computed to the same bits wherever it lies") {
    using block = tensor<float, shape<33, 70>>;
    block const x = 3 * castnet::sin(block::arange());
    auto const f = [](auto const& y) { return castnet::tanh(y) + castnet::exp(y) * 0.5F; };
    block const rows = f(x);                                     // in memory order
    tensor<float, shape<70, 33>> const turned = f(transpose(x)); // across rows
    block in_columns;
    transpose(in_columns) = f(transpose(x)); // one by one
    block spread = block::zeros();
    tensor<float, shape<70>> const nothing;
    spread = f(x + nothing); // row by row
    CHECK(array_equal(turned, transpose(rows)));
    CHECK(array_equal(in_columns, rows));
    CHECK(array_equal(spread, rows));
    for (size_t i = 0; i < block::size(); i += 7) {
        tensor<float, shape<1>> const alone = f(tensor<float, shape<1>>{x.data()[i]});
        CHECK(alone(0) == rows.data()[i]);
    }
}

namespace {

template <class T>
bool same_number(T a, T b) {
    return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}

// Whether f of a tensor has the same elements as f of each number.
template <class T, class S, class F>
bool is_of_each(tensor<T, S> const& x, F const& f) {
    tensor<T, S> const all = f(x);
    tensor<T, S> within = -castnet::abs(f(f(1 * x))), in_place = x;
    in_place = f(in_place);
    bool same = true;
    for (size_t i = 0; i < x.size(); ++i) {
        T const one = x.data()[i], y = f(one);
        same &= same_number(all.data()[i], y) && same_number(in_place.data()[i], y) &&
                same_number(within.data()[i], -castnet::abs(f(y)));
    }
    return same;
}

} // namespace

TEST_CASE_TEMPLATE("functions of blocks agree with those of numbers", T, float, double) {
    using limits = std::numeric_limits<T>;
    using row = tensor<T, shape<1100>>; // two blocks, and a rest that fills no vector
    auto const check = [](auto const& x) {
        CHECK(is_of_each(x, [](auto const& t) { return castnet::sqrt(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::rsqrt(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::sin(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::cos(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::tan(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::asin(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::acos(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::asinh(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::acosh(t); }));
        CHECK(is_of_each(x, [](auto const& t) { return castnet::erfinv(t); }));
        for (T const divisor : {T(2), T(-0.37), T(1e30), limits::infinity(), T(0)}) {
            CHECK(is_of_each(x, [&](auto const& t) { return castnet::fmod(t, divisor); }));
            CHECK(is_of_each(x, [&](auto const& t) { return castnet::remainder(t, divisor); }));
        }
        for (T const power : {T(2), T(3), T(0.5), T(-1), T(1.7)}) {
            CHECK(is_of_each(x, [&](auto const& t) { return castnet::pow(t, power); }));
        }
    };
    row x = row::arange(-500) * T(0.37);
    check(x);
    check(row{x * T(0.004)}); // most of these have an arcsine
    T const special[] = {T(0),
                         T(-0.0),
                         limits::denorm_min(),
                         limits::min(),
                         limits::max(),
                         T(1e10),
                         limits::infinity(),
                         -limits::infinity(),
                         limits::quiet_NaN()};
    for (size_t i = 0; i < std::size(special); ++i) {
        x(600 + i) = special[i]; // in the second block only
    }
    check(x);
    check(tensor<T, shape<3, 7>>(T(0.5) * tensor<T, shape<3, 7>>::arange(-4)));
}

TEST_CASE_TEMPLATE("functions of two blocks agree with those of numbers", T, float, double) {
    using limits = std::numeric_limits<T>;
    using row = tensor<T, shape<1100>>;
    row x = row::arange(-500) * T(0.37);
    row y = castnet::sin(row::arange()) * 3;
    auto const check = [&](auto const& f) {
        row const all = f(x, y), of_expressions = f(1 * x, castnet::abs(y) * 2);
        row first = x, second = y;
        first = f(first, y);
        second = f(x, second);
        bool same = true;
        for (size_t i = 0; i < x.size(); ++i) {
            T const one = f(x(i), y(i));
            same &= same_number(all(i), one) && same_number(first(i), one) &&
                    same_number(second(i), one) &&
                    same_number(of_expressions(i), f(x(i), std::abs(y(i)) * 2));
        }
        CHECK(same);
    };
    auto const check_all = [&] {
        check([](auto const& a, auto const& b) { return castnet::fmod(a, b); });
        check([](auto const& a, auto const& b) { return castnet::remainder(a, b); });
        check([](auto const& a, auto const& b) { return castnet::hypot(a, b); });
    };
    check_all();
    T const special[] = {0, T(-0.0), 1, limits::max(), limits::infinity(), limits::quiet_NaN()};
    for (size_t i = 0; i < 36; ++i) { // in the second block only
        x(600 + i) = special[i / 6];
        y(600 + i) = special[i % 6];
    }
    check_all();
    CHECK(castnet::hypot(T(3), T(-4)) == 5);
    CHECK(castnet::hypot(limits::quiet_NaN(), -limits::infinity()) == limits::infinity());
}

TEST_CASE("remainders of integers are integers, exact, and 0 by 0") {
    tensor<int, shape<40>> const a = tensor<int, shape<40>>::arange(-20) * 7919;
    tensor<int, shape<40>> const b = 17 - tensor<int, shape<40>>::arange();
    tensor<int, shape<40>> const rest = castnet::fmod(a, b);
    tensor<int, shape<40>> const modulo = castnet::remainder(a, b);
    for (size_t i = 0; i < 40; ++i) {
        int const divisor = b(i), expected = divisor == 0 ? 0 : a(i) % divisor;
        CHECK(rest(i) == expected);
        CHECK(modulo(i) == (expected * divisor < 0 ? expected + divisor : expected));
    }
    static_assert(std::is_same_v<decltype(castnet::remainder(7, 3)), int>);
    constexpr int least = std::numeric_limits<int>::min();
    CHECK(castnet::fmod(least, -1) == 0);
    CHECK(castnet::fmod(least, 7) == least % 7);
    CHECK(castnet::fmod(4294967295U, 4294967294U) == 1);
    CHECK(castnet::remainder(least + 1, least) == least + 1); // no overflow on the way
    CHECK(castnet::remainder(-1 - least, least) == -1);
    constexpr auto most = std::numeric_limits<std::int64_t>::max(); // no double
    CHECK(castnet::fmod(most, std::int64_t{10}) == 7);
    CHECK(castnet::remainder(-most, std::int64_t{10}) == 3);
    CHECK(castnet::remainder(-most - 1, std::int64_t{-1}) == 0);
    CHECK(castnet::remainder(std::uint64_t{5}, std::uint64_t{0}) == 0);
}

TEST_CASE("functions of blocks read operands that broadcast, and lie in any order") {
    tensor<float, shape<40, 600>> const x =
        castnet::square(castnet::sin(tensor<float, shape<40, 600>>::arange()));
    tensor<float, shape<600, 40>> const turned = castnet::transpose(x);
    auto const row = tensor<float, shape<600>>::arange();
    auto const per_row = tensor<float, shape<40, 1>>::arange(1);
    tensor<double, shape<40, 600>> const by_root = x / castnet::sqrt(per_row) - castnet::sqrt(row);
    tensor<float, shape<40, 600>> const turns = castnet::cos(castnet::transpose(turned) + per_row);
    tensor<float, shape<40, 600>> const roots = castnet::sqrt(castnet::sqrt(castnet::sum(x)) * x);
    tensor<float, shape<40>> const one = castnet::sqrt(castnet::select<1>(x, 7));
    bool same = true;
    for (size_t i = 0; i < 40; ++i) {
        same &= one(i) == std::sqrt(x(i, 7));
        for (size_t j = 0; j < 600; ++j) {
            same &= by_root(i, j) == double(x(i, j) / std::sqrt(per_row(i, 0)) - std::sqrt(row(j)));
            same &= turns(i, j) == castnet::cos(x(i, j) + per_row(i, 0));
            same &= roots(i, j) == std::sqrt(std::sqrt(castnet::sum(x)) * x(i, j));
        }
    }
    CHECK(same);
    tensor<double, shape<5>> const of_integers = castnet::sqrt(tensor<int, shape<5>>::arange());
    CHECK(of_integers(4) == 2);
}

TEST_CASE("views of views read and write the same elements") {
    using block = tensor<int, shape<4, 6, 5>>;
    block const x = block::arange();
    auto const part = slice<0, 1, 4, 2>(transpose(select<1>(x, 2))); // x[:, 2, :].T[1:4:2]
    static_assert(std::is_same_v<decltype(part)::shape_type, shape<2, 4>>);
    for (size_t i = 0; i < 2; ++i) {
        for (size_t j = 0; j < 4; ++j) {
            CHECK(part(i, j) == x(j, 2, 1 + 2 * i));
        }
    }
    CHECK(sum(part) == sum(evaluate(part)));
    CHECK(castnet::max<0>(part)(3) == x(3, 2, 3));
    block y = x;
    slice<0, 1, 4, 2>(transpose(select<1>(y, 2))) = -part;
    CHECK(y(3, 2, 3) == -x(3, 2, 3));
    CHECK(y(3, 2, 2) == x(3, 2, 2));
    CHECK(sum(y) == sum(x) - 2 * sum(part));
}

TEST_CASE("close and equal") {
    matrix const a = sample();
    CHECK(allclose(a, a + 1e-6F));
    CHECK_FALSE(allclose(a, a + 1e-3F));
    CHECK(allclose(a, a + 1e-3F, 0, 1.1e-3));
    CHECK_FALSE(array_equal(a, a + 1e-6F));
    float const infinity = INFINITY;
    CHECK(allclose(matrix::full(infinity), infinity));
    CHECK_FALSE(allclose(a, infinity));
    CHECK_FALSE(allclose(matrix::full(NAN), NAN));
    CHECK_FALSE(array_equal(matrix::full(NAN), NAN));
}

namespace {

template <class T>
void check_chosen_integers() {
    using limits = std::numeric_limits<T>;
    auto const low = tensor<T, shape<70>>::full(limits::lowest());
    auto const high = tensor<T, shape<70>>::full(limits::max());
    auto const even = tensor<int, shape<70>>::arange();
    tensor<T, shape<70>> const chosen = where(castnet::remainder(even, 2) == 0, low, high);
    for (size_t i = 0; i < 70; ++i) {
        CHECK(chosen(i) == (i % 2 == 0 ? limits::lowest() : limits::max()));
    }
}

} // namespace

TEST_CASE("integers of any type are chosen by conditions") {
    check_chosen_integers<std::int8_t>();
    check_chosen_integers<std::uint8_t>();
    check_chosen_integers<std::int16_t>();
    check_chosen_integers<int>();
    check_chosen_integers<std::uint64_t>();
    tensor<bool, shape<2>> const flags{true, false};
    CHECK(array_equal(where(flags, flags, 1), tensor<int, shape<2>>{1, 1}));
}

TEST_CASE("bytes are made of numbers of other types") {
    auto const numbers = tensor<float, shape<3, 100>>::arange(0, 0.8F);
    tensor<std::uint8_t, shape<3, 100>> const bytes = numbers;
    tensor<std::int8_t, shape<3, 100>> smaller;
    smaller = numbers / 2;
    for (size_t i = 0; i < bytes.size(); ++i) {
        CHECK(bytes.data()[i] == static_cast<std::uint8_t>(numbers.data()[i]));
        CHECK(smaller.data()[i] == static_cast<std::int8_t>(numbers.data()[i] / 2));
    }
}

TEST_CASE_TEMPLATE("numbers of any type are compared, bounded, and true or false", T, std::int8_t,
                   std::uint8_t, std::int16_t, int, std::int64_t, float, double) {
    tensor<T, shape<3, 75>> a, b;
    for (size_t i = 0; i < a.size(); ++i) {
        a.data()[i] = static_cast<T>(i * 37 % 101 - (std::is_signed_v<T> ? 50 : 0));
        b.data()[i] = static_cast<T>(i * 53 % 97 - (std::is_signed_v<T> ? 48 : 0));
    }
    tensor<bool, shape<3, 75>> const is_less = a < b, truth = a;
    tensor<T, shape<3, 75>> const at_least = a >= b, small = minimum(a, b), large = maximum(a, b),
                                  clipped = clip(a, T(10), T(40)), size = castnet::abs(a);
    for (size_t i = 0; i < a.size(); ++i) {
        T const x = a.data()[i], y = b.data()[i];
        CHECK(is_less.data()[i] == (x < y));
        CHECK(truth.data()[i] == (x != 0));
        CHECK(at_least.data()[i] == (x < y ? 0 : 1));
        CHECK(small.data()[i] == std::min(x, y));
        CHECK(large.data()[i] == std::max(x, y));
        CHECK(clipped.data()[i] == std::clamp(x, T(10), T(40)));
        CHECK(size.data()[i] == (x < T(0) ? -x : x));
    }
}
