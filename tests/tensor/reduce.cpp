// Reductions over all and over some axes.
#include <castnet/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <utility>

using namespace castnet;

using matrix = tensor<float, shape<2, 3>>;

TEST_CASE("reductions over everything give a number") {
    matrix const x{{3, -1, 2}, {0, 8, -6}};
    CHECK(sum(x) == 6);
    CHECK(mean(x) == 1);
    CHECK(prod(x + 1) == 0);
    CHECK(prod(x[0]) == -6);
    CHECK(castnet::min(x) == -6);
    CHECK(castnet::max(x) == 8);
    CHECK(argmin(x) == 5);
    CHECK(argmax(x) == 4);
    CHECK(sum(tensor<float, shape<>>(4)) == 4);
}

TEST_CASE("reductions over some axes drop or keep them") {
    matrix const x{{3, -1, 2}, {0, 8, -6}};
    CHECK(array_equal(sum<0>(x), tensor<float, shape<3>>{3, 7, -4}));
    CHECK(array_equal(sum<1>(x), tensor<float, shape<2>>{4, 2}));
    CHECK(array_equal(max<1>(x), tensor<float, shape<2>>{3, 8}));
    CHECK(array_equal(argmin<0>(x), tensor<int, shape<3>>{1, 0, 1}));
    CHECK(array_equal(argmax<1>(x), tensor<int, shape<2>>{0, 1}));
    auto const kept = mean<1>(x * 3, keepdims);
    static_assert(std::is_same_v<decltype(kept)::shape_type, shape<2, 1>>);
    CHECK(array_equal(kept, tensor<float, shape<2, 1>>{{4}, {2}}));
    static_assert(std::is_same_v<decltype(sum(x, keepdims))::shape_type, shape<1, 1>>);
    CHECK(allclose(sum<1>(x - mean<1>(x, keepdims)), 0, 0, 1e-6));
}

TEST_CASE("reductions agree with plain loops on every choice of axes") {
    // Longer than the block of neighbours that is reduced together
    using block = tensor<double, shape<3, 5, 70>>;
    block const x = castnet::sin(block::arange());
    double all = 0;
    tensor<double, shape<70>> by_last;
    tensor<double, shape<3, 5>> by_first;
    tensor<double, shape<5>> by_middle;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 5; ++j) {
            for (size_t k = 0; k < 70; ++k) {
                all += x(i, j, k);
                by_last(k) += x(i, j, k);
                by_first(i, j) += x(i, j, k);
                by_middle(j) += x(i, j, k);
            }
        }
    }
    CHECK(sum(x) == doctest::Approx(all));
    CHECK(allclose(sum<0, 1>(x), by_last));
    CHECK(allclose(sum<1, 0>(x), by_last));
    CHECK(allclose(sum<2>(x), by_first));
    CHECK(allclose(sum<0, 2>(x), by_middle));
    CHECK(allclose(sum<0, 1, 2>(x), all));
    CHECK(allclose(sum<0, 2>(transpose<2, 1, 0>(x)), by_middle));
}

TEST_CASE("views are reduced in the order of memory, with the same results") {
    using block = tensor<double, shape<4, 19, 30>>;
    block const x = castnet::sin(block::arange());
    auto const moved = transpose<2, 0, 1>(x);
    block const counted = block::arange();
    tensor<double, shape<30, 4, 19>> const copy = moved;
    CHECK(allclose(sum<0>(moved), sum<0>(copy)));
    CHECK(allclose(sum<2>(moved), sum<2>(copy)));
    auto const means = mean<2>(counted);
    CHECK(allclose(mean<1>(transpose<1, 2, 0>(counted)), transpose(means)));
    CHECK(allclose(sum<0, 2>(moved, keepdims), sum<0, 2>(copy, keepdims)));
    CHECK(sum(moved) == doctest::Approx(sum(copy)));
    CHECK(array_equal(max<1>(slice<2, 3, 19, 2>(moved)), max<1>(slice<2, 3, 19, 2>(copy))));
    CHECK(array_equal(argmax<0>(moved), argmax<0>(copy)));
    CHECK(array_equal(argmin<2>(transpose(x)), argmin<2>(evaluate(transpose(x)))));
    CHECK(array_equal(argmax<0, 2>(moved), argmax<0, 2>(copy)));
    CHECK(array_equal(sum<0>(broadcast_to<5, 30>(counted[0][0])), 5 * counted[0][0]));

    auto const row = tensor<double, shape<19>>::arange();
    auto const means_of_rows = mean<2>(copy, keepdims);
    CHECK(allclose(sum<0>(moved * row - means_of_rows), sum<0>(copy * row - means_of_rows)));
    CHECK(allclose(sum<2>(square(moved - 2) + moved), sum<2>(square(copy - 2) + copy)));
    CHECK(allclose(sum<1>(moved * copy), sum<1>(square(copy)))); // in two orders
    CHECK(array_equal(max<0, 2>(-moved), max<0, 2>(-copy)));
    CHECK(array_equal(argmax<1>(moved * row), argmax<1>(copy * row)));
    CHECK(any(moved == copy(29, 3, 18)));
    CHECK(array_equal(sum<1>(where(moved > 0, tensor<double, shape<4, 19>>::ones() * row, 0)),
                      sum<1>(where(copy > 0, broadcast_to<4, 19>(row), 0))));
}

TEST_CASE("extremes are found wherever they lie") {
    using block = tensor<float, shape<7, 333>>;
    block const x = castnet::sin(block::arange());
    for (size_t place = 0; place < block::size(); place += 37) {
        block peak = x;
        peak.data()[place] = 2;
        size_t const row = place / 333, column = place % 333;
        CHECK(argmax(peak) == place);
        CHECK(argmin(-peak) == place);
        CHECK(castnet::max(peak) == 2);
        CHECK(max<1>(peak)(row) == 2);
        CHECK(max<0>(peak)(column) == 2);
        CHECK(argmax<1>(peak)(row) == column);
        CHECK(argmax<0>(peak)(column) == row);
        CHECK(argmax(transpose(peak)) == column * 7 + row);
        peak.data()[place] = NAN;
        CHECK(argmin(peak) == place);
        CHECK(std::isnan(castnet::max(peak)));
        CHECK(std::isnan(min<1>(peak)(row)));
        CHECK(std::isnan(sum<0>(peak)(column)));
    }
    CHECK(argmax(block::full(-INFINITY)) == 0);
    CHECK(argmin<0>(tensor<double, shape<3, 2>>::full(INFINITY))(1) == 0);
    CHECK(castnet::max(tensor<bool, shape<3>>{false, true, false}));
    CHECK(castnet::min(tensor<std::int8_t, shape<300>>::full(-128)) == -128);
}

namespace {

// Rows of some lengths, longer and shorter than what vectors hold.
template <class T, size_t Length>
void check_integer_sums() {
    tensor<T, shape<3, Length>> x;
    std::int64_t rows[3] = {}, all = 0;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < Length; ++j) {
            x(i, j) = static_cast<T>(i * 7919 * j * j + j); // of both signs where there are two
            rows[i] += static_cast<std::int64_t>(x(i, j));
        }
        all += rows[i];
    }
    CHECK(static_cast<std::int64_t>(sum(x)) == all);
    CHECK(static_cast<std::int64_t>(sum(x + T(0))) == all);
    CHECK(castnet::mean(x) == doctest::Approx(double(all) / (3 * Length)));
    for (size_t i = 0; i < 3; ++i) {
        CHECK(static_cast<std::int64_t>(sum<1>(x)(i)) == rows[i]);
        CHECK(static_cast<std::int64_t>(sum(x[i])) == rows[i]);
    }
}
template <class... T>
void check_integer_sums_of() {
    (..., check_integer_sums<T, 31>());
    (..., check_integer_sums<T, 32>());
    (..., check_integer_sums<T, 1003>());
}

} // namespace

TEST_CASE("integers of any type are summed in rows of any length") {
    check_integer_sums_of<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                          std::uint32_t, std::int64_t, std::uint64_t>();
}

namespace {

// Rows with ties, in which each place has the largest or smallest number in turn.
template <class T, size_t Length>
void check_integer_extremes() {
    using limits = std::numeric_limits<T>;
    tensor<T, shape<3, Length>> x;
    for (size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<T>(i * 7 % 13 + 1);
    }
    for (size_t place = 0; place < Length; place += 5) {
        auto high = x, low = x;
        high(1, place) = high(1, Length - 1) = limits::max();
        low(1, place) = low(1, Length - 1) = limits::lowest();
        CHECK(argmax<1>(high)(1) == place);
        CHECK(argmin<1>(low)(1) == place);
        CHECK(argmax(high) == Length + place);
        CHECK(argmin(low) == Length + place);
        CHECK(argmax<1>(high + T(0))(1) == place);
        CHECK(argmax<0>(high)(place) == 1);
        CHECK(argmin<0>(low)(place) == 1);
        CHECK(max<0>(high)(place) == limits::max());
        CHECK(min<0>(low)(place) == limits::lowest());
        CHECK(castnet::max(high) == limits::max());
        CHECK(min<1>(low)(1) == limits::lowest());
    }
    x = limits::lowest();
    CHECK(argmax(x) == 0);
    CHECK(argmin<1>(x)(2) == 0);
    x = limits::max();
    CHECK(argmin(x) == 0);
    CHECK(argmax<1>(x)(2) == 0);
}
template <class... T>
void check_integer_extremes_of() {
    (..., check_integer_extremes<T, 131>());
    (..., check_integer_extremes<T, 1203>());
}

} // namespace

TEST_CASE("truth values are counted along any axis") {
    using numbers = tensor<int, shape<7, 19, 133>>;
    numbers const x = castnet::remainder(numbers::arange() * 37, 11) < 4;
    tensor<bool, shape<7, 19, 133>> const mask = x;
    CHECK(array_equal(sum<2>(mask), sum<2>(x)));
    CHECK(array_equal(sum<0, 2>(mask), sum<0, 2>(x)));
    CHECK(array_equal(sum<0>(transpose(mask)), sum<0>(transpose(x))));
    CHECK(array_equal(mean<1>(mask), mean<1>(x)));
    CHECK(array_equal(argmax<2>(mask), argmax<2>(x)));
    CHECK(array_equal(argmin<0>(mask), argmin<0>(x)));
    CHECK(array_equal(prod<2>(slice<2, 3, 5>(mask)), prod<2>(slice<2, 3, 5>(x))));
    CHECK(std::is_same_v<decltype(sum(mask)), std::int64_t>);
    CHECK(std::is_same_v<decltype(max<0>(mask))::value_type, bool>);
    CHECK(sum(mask == false) == sum(1 - x));
    CHECK(sum(mask != true) == sum(1 - x));
    CHECK(array_equal(transpose(mask) == false, 1 - transpose(x)));
}

TEST_CASE("integers of any type have extremes in rows of any length") {
    check_integer_extremes_of<std::int8_t, std::uint8_t, std::int16_t, std::uint32_t,
                              std::int64_t>();
}

TEST_CASE("integers are summed in 64 bits, floats in double") {
    using bytes = tensor<std::uint8_t, shape<1000>>;
    static_assert(std::is_same_v<decltype(sum(bytes())), std::uint64_t>);
    CHECK(sum(bytes::full(200)) == 200'000);
    CHECK(mean(bytes::full(201)) == 201.0);
    CHECK(mean(tensor<int, shape<2>>{1, 2}) == 1.5);
    using many = tensor<float, shape<1 << 20>>;
    CHECK(sum(many::full(0.1F)) == doctest::Approx((1 << 20) * 0.1).epsilon(1e-7));
}

TEST_CASE("the first of equals wins, and NaN beats everything") {
    CHECK(argmax(tensor<int, shape<4>>{1, 3, 3, 2}) == 1);
    CHECK(argmin(tensor<int, shape<4>>{2, 1, 1, 2}) == 1);
    tensor<float, shape<4>> const x{1, NAN, 3, NAN};
    CHECK(std::isnan(castnet::max(x)));
    CHECK(std::isnan(castnet::min(x)));
    CHECK(argmax(x) == 1);
    CHECK(argmin(x) == 1);
}

namespace {

// Reduces rows of Count numbers that lie in memory and that have to be computed.
template <class T, size_t Count>
void check_runs() {
    using rows = tensor<T, shape<2, Count>>;
    rows x = rows::arange(T(1));
    T const first = T(Count * (Count + 1) / 2), second = first + T(Count * Count);
    tensor<T, shape<2>> const sums{first, second};
    INFO(Count);
    CHECK(array_equal(sum<1>(x), sums));
    CHECK(array_equal(sum<1>(x + x), 2 * sums));
    CHECK(sum(x) == first + second);
    CHECK(array_equal(max<1>(x), tensor<T, shape<2>>{Count, 2 * Count}));
    CHECK(array_equal(min<1>(-x), tensor<T, shape<2>>{-T(Count), -T(2 * Count)}));
    CHECK(array_equal(min<1>(x), tensor<T, shape<2>>{1, T(Count + 1)}));
    CHECK(array_equal(argmax<1>(x * x), tensor<size_t, shape<2>>::full(Count - 1)));
    CHECK(array_equal(argmin<1>(x / x), tensor<size_t, shape<2>>::zeros())); // the first of equals
    for (size_t const place : {size_t{0}, Count / 2, Count - 1}) {
        T const before = x(1, place);
        x(1, place) = NAN;
        CHECK(castnet::max(x[0]) == T(Count));
        CHECK(argmax<1>(x)(0) == Count - 1);
        CHECK(argmax<1>(x)(1) == place);
        CHECK(argmin<1>(x + x)(1) == place);
        CHECK(argmax(x) == Count + place);
        CHECK(std::isnan(max<1>(x)(1)));
        CHECK(std::isnan(min<1>(x + x)(1)));
        CHECK(std::isnan(sum<1>(x)(1)));
        x(1, place) = before;
    }
}

} // namespace

namespace {

// Reduces many rows of Count numbers, of which a vector takes several at once.
template <class T, size_t Count, size_t Rows = 37>
void check_many_rows() {
    using rows = tensor<T, shape<Rows, Count>>;
    rows x = castnet::sin(rows::arange());
    for (size_t i = 0; i < Rows; ++i) {
        x(i, (5 * i) % Count) = T(2);
        x(i, (3 * i) % Count) = T(2); // of equals, the first
        x(i, (7 * i + 1) % Count) = T(-1.5);
    }
    x(20, Count - 1) = x(20, Count / 2) = NAN;
    x(36, 0) = -std::numeric_limits<T>::infinity();
    auto const largest = argmax<1>(x), of_sum = argmax<1>(x + x), smallest = argmin<1>(x);
    auto const products = prod<1>(x), of_squares = prod<1>(x * x);
    for (size_t i = 0; i < Rows; ++i) {
        size_t most = 0, least = 0;
        double product = 1;
        for (size_t j = 0; j < Count; ++j) {
            bool const found = std::isnan(x(i, most));
            most = !found && (x(i, j) > x(i, most) || std::isnan(x(i, j))) ? j : most;
            least = !found && (x(i, j) < x(i, least) || std::isnan(x(i, j))) ? j : least;
            product *= double(x(i, j));
        }
        INFO(Count, ", row ", i);
        CHECK(largest(i) == most);
        CHECK(of_sum(i) == most);
        CHECK(smallest(i) == least);
        if (i == 20) {
            CHECK(std::isnan(products(i)));
        } else if (i != 36) {
            CHECK(products(i) == doctest::Approx(product).epsilon(1e-5));
            CHECK(of_squares(i) == doctest::Approx(product * product).epsilon(1e-5));
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("rows of every length are reduced to their end", T, float, double) {
    check_many_rows<T, 3>();
    check_many_rows<T, 10>();
    check_many_rows<T, 7, 150>();
    check_many_rows<T, 16>();
    check_many_rows<T, 19>();
    check_many_rows<T, 33>();
    check_many_rows<T, 64>();
    check_many_rows<T, 100>();
    check_runs<T, 2>();
    check_runs<T, 3>();
    check_runs<T, 5>();
    check_runs<T, 7>();
    check_runs<T, 9>();
    check_runs<T, 15>();
    check_runs<T, 16>();
    check_runs<T, 33>();
    check_runs<T, 262>();
    check_runs<T, 513>();
}

namespace {

// Reduces columns of matrices and of a batch of them whose axes cannot be counted as one.
template <class T, size_t Rows, size_t Columns>
void check_columns() {
    using block = tensor<T, shape<Rows, Columns>>;
    block x = block::arange(T(1));
    tensor<T, shape<Columns>> sums, largest, smallest;
    for (size_t j = 0; j < Columns; ++j) {
        sums(j) = T(Rows * (j + 1) + Columns * (Rows * (Rows - 1) / 2));
        largest(j) = T((Rows - 1) * Columns + j + 1);
        smallest(j) = T(j + 1);
    }
    INFO(Rows, " x ", Columns);
    CHECK(array_equal(sum<0>(x), sums));
    CHECK(array_equal(sum<0>(x + x), 2 * sums));
    CHECK(allclose(mean<0>(x), sums / double(Rows)));
    CHECK(array_equal(max<0>(x), largest));
    CHECK(array_equal(max<0>(-x), -smallest));
    CHECK(array_equal(min<0>(x), smallest));
    for (size_t const column : {size_t{0}, Columns / 2, Columns - 1}) {
        for (size_t const row : {size_t{0}, Rows / 2, Rows - 1}) {
            T const before = x(row, column);
            x(row, column) = NAN;
            auto const peaks = max<0>(x), lows = min<0>(x + x);
            auto const all = sum<0>(x);
            for (size_t j = 0; j < Columns; ++j) {
                CHECK(std::isnan(peaks(j)) == (j == column));
                CHECK(std::isnan(lows(j)) == (j == column));
                CHECK(std::isnan(all(j)) == (j == column));
            }
            x(row, column) = before;
        }
    }
    tensor<T, shape<3, 2, Rows, Columns>> batch;
    for (size_t i = 0; i < 6; ++i) {
        batch[i / 2][i % 2] = x;
    }
    auto const parts = slice<3, 0, Columns - 1>(batch);
    CHECK(array_equal(sum<0, 2>(parts),
                      3 * broadcast_to<2, Columns - 1>(slice<0, 0, Columns - 1>(sums))));
    CHECK(array_equal(max<0, 2>(parts),
                      broadcast_to<2, Columns - 1>(slice<0, 0, Columns - 1>(largest))));
}

} // namespace

TEST_CASE("columns are reduced whatever their number") {
    check_columns<float, 5, 9>();
    check_columns<float, 33, 17>();
    check_columns<float, 35, 83>();
    check_columns<float, 16, 129>();
    check_columns<double, 33, 9>();
    check_columns<double, 18, 100>();
}

namespace {

template <class T, size_t Length>
void check_short_columns() {
    CAPTURE(Length);
    using rows = tensor<T, shape<2, 203, Length>>;
    auto x = rows::empty();
    for (size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<T>(i * 7919 % 101);
    }
    tensor<double, shape<2, Length>> sums;
    tensor<T, shape<2, Length>> most, least = tensor<T, shape<2, Length>>::full(T(100));
    for (size_t b = 0; b < 2; ++b) {
        for (size_t i = 0; i < 203; ++i) {
            for (size_t j = 0; j < Length; ++j) {
                sums(b, j) += static_cast<double>(x(b, i, j));
                most(b, j) = std::max(most(b, j), x(b, i, j));
                least(b, j) = std::min(least(b, j), x(b, i, j));
            }
        }
    }
    CHECK(array_equal(sum<1>(x), sums));
    CHECK(allclose(mean<1>(x), sums / 203));
    CHECK(array_equal(max<1>(x), most));
    CHECK(array_equal(min<1>(x), least));
    CHECK(array_equal(sum<0, 1>(x), sum<0>(sums)));
    if constexpr (std::is_floating_point_v<T>) {
        x(1, 202, Length - 1) = std::numeric_limits<T>::quiet_NaN();
        CHECK(castnet::isnan(max<1>(x)(1, Length - 1)));
        CHECK(castnet::isnan(sum<1>(x)(1, Length - 1)));
        CHECK(sum(castnet::isnan(min<1>(x))) == 1);
    }
}

} // namespace

TEST_CASE_TEMPLATE("columns of short rows are reduced to their end", T, float, double, std::int32_t,
                   std::uint8_t) {
    check_short_columns<T, 1>();
    check_short_columns<T, 2>();
    check_short_columns<T, 3>();
    check_short_columns<T, 7>();
    check_short_columns<T, 12>();
    check_short_columns<T, 15>();
}

TEST_CASE_TEMPLATE("places of extremes in columns of short rows are the first ones", T, float,
                   double, int) {
    constexpr size_t rows = 600; // two blocks, and one that begins earlier
    tensor<T, shape<rows, 3>> x;
    for (size_t i = 0; i != rows; ++i) {
        x(i, 0) = static_cast<T>(i * 37 % 101); // with ties
        x(i, 1) = static_cast<T>(rows - i);
        x(i, 2) = 7;
    }
    x(599, 1) = 1000;
    CHECK(array_equal(argmax<0>(x), tensor<size_t, shape<3>>{{30, 599, 0}}));
    CHECK(array_equal(argmin<0>(x), tensor<size_t, shape<3>>{{0, 598, 0}}));
    if constexpr (std::is_floating_point_v<T>) {
        x(500, 0) = x(300, 0) = x(599, 2) = std::numeric_limits<T>::quiet_NaN();
        CHECK(array_equal(argmax<0>(x), tensor<size_t, shape<3>>{{300, 599, 599}}));
        CHECK(array_equal(argmin<0>(x), tensor<size_t, shape<3>>{{300, 598, 599}}));
    }
}

namespace {

template <class T, size_t Length>
void check_short_rows() {
    CAPTURE(Length);
    using rows = tensor<T, shape<2, 35, Length>>; // the second begins anywhere in a vector
    rows const x = evaluate(castnet::remainder(rows::arange(), T(7))),
               y = evaluate(castnet::remainder(rows::arange(), T(5)));
    tensor<T, shape<Length>> const centre = tensor<T, shape<Length>>::arange();
    auto const sums = sum<2>(x), products = sum<2>(x * y), squares = sum<2>(square(x - centre));
    auto const largest = max<2>(x * y);
    auto const places = argmin<2>(y - x);
    for (size_t i = 0; i < 70; ++i) {
        T const* const row = x.data() + i * Length;
        T const* const other = y.data() + i * Length;
        T total = 0, product = 0, distance = 0, most = 0, least = 99;
        size_t place = 0;
        for (size_t k = 0; k < Length; ++k) {
            total += row[k];
            product += row[k] * other[k];
            distance += (row[k] - centre(k)) * (row[k] - centre(k));
            most = std::max(most, row[k] * other[k]);
            place = other[k] - row[k] < least ? k : place;
            least = std::min(least, other[k] - row[k]);
        }
        CHECK(sums.data()[i] == total);
        CHECK(products.data()[i] == product);
        CHECK(squares.data()[i] == distance);
        CHECK(largest.data()[i] == most);
        CHECK(places.data()[i] == place);
    }
}

} // namespace

TEST_CASE_TEMPLATE("rows of few numbers", T, float, double, int) {
    []<size_t... I>(std::index_sequence<I...>) {
        (check_short_rows<T, I + 2>(), ...);
    }(std::make_index_sequence<14>{});
}
