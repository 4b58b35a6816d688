// Expressions whose operands do not lie in memory like the result: transposed, repeated, with gaps.
#include <castnet/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>

using namespace castnet;

namespace {

// Numbers that differ
template <class T, size_t... Extents>
tensor<T, shape<Extents...>> numbers() {
    auto x = tensor<T, shape<Extents...>>::empty();
    for (size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<T>(i * 7 % 251);
    }
    return x;
}

template <class T, size_t M, size_t N>
void check_matrices() {
    CAPTURE(M);
    CAPTURE(N);
    auto const turned = numbers<T, N, M>();
    auto const a = numbers<T, M, N>();
    auto const row = numbers<T, N>();
    auto const column = numbers<T, M, 1>();
    auto const wide = numbers<T, M, N + 3>();
    auto const one = tensor<T, shape<1, 1>>::full(T(5));

    // with elements before and behind that must stay as they are
    tensor<T, shape<M + 2, N>> framed = tensor<T, shape<M + 2, N>>::full(T(-1));
    tensor_view<T, shape<M, N>> const flat{framed.data() + N};
    flat = transpose(turned);
    bool same = true;
    for (size_t i = 0; i < M; ++i) {
        for (size_t j = 0; j < N; ++j) {
            same = same && flat(i, j) == turned(j, i);
        }
    }
    CHECK(same);
    for (size_t j = 0; j < N; ++j) {
        CHECK(framed(0, j) == T(-1));
        CHECK(framed(M + 1, j) == T(-1));
    }

    tensor<T, shape<M, N + 2>> gaps = tensor<T, shape<M, N + 2>>::full(T(-1));
    slice<1, 1, N + 1>(gaps) = transpose(turned);
    CHECK(array_equal(slice<1, 1, N + 1>(gaps), flat));
    CHECK(sum(select<1>(gaps, 0)) == -static_cast<T>(M));
    CHECK(sum(select<1>(gaps, N + 1)) == -static_cast<T>(M));
    slice<1, 1, N + 1>(gaps) = transpose(turned) - 1;
    CHECK(array_equal(slice<1, 1, N + 1>(gaps), flat - 1));

    tensor<T, shape<M, N>> const mixed = (transpose(turned) + 2 * row) * column - a + one;
    tensor<T, shape<M, N>> const broadcast = (a - row) * column + one;
    tensor<T, shape<M, N>> const cut = slice<1, 2, N + 2>(wide) + column;
    bool all = true;
    for (size_t i = 0; i < M; ++i) {
        for (size_t j = 0; j < N; ++j) {
            all = all &&
                  mixed(i, j) == (turned(j, i) + 2 * row(j)) * column(i, 0) - a(i, j) + T(5) &&
                  broadcast(i, j) == (a(i, j) - row(j)) * column(i, 0) + T(5) &&
                  cut(i, j) == wide(i, j + 2) + column(i, 0);
        }
    }
    CHECK(all);

    tensor<T, shape<M, N>> own = a;
    own = transpose(turned) - own; // read where it is written
    CHECK(array_equal(own, flat - a));
}

// A batch of small matrices, element by element.
template <class T, size_t Outer, size_t Batch, size_t M, size_t N>
void check_batches() {
    INFO(Outer << " x " << Batch << " x " << M << " x " << N);
    auto const a = numbers<T, Outer, Batch, M, N>();
    auto const turned = numbers<T, Outer, Batch, N, M>();
    auto const vectors = numbers<T, Outer, Batch, 1, N>();
    auto const columns = numbers<T, Batch, M, 1>();
    auto const factors = numbers<T, Outer, 1, 1, 1>();
    auto const one = numbers<T, M, N>();
    auto const wide = numbers<T, Outer, Batch, M + 1, N + 2>();
    auto const cut = slice<3, 1, N + 1>(slice<2, 1, M + 1>(wide));

    tensor<T, shape<Outer, Batch, M, N>> const mixed =
        a * vectors + columns - transpose<0, 1, 3, 2>(turned) * 2 + factors;
    tensor<T, shape<Outer, Batch, M, N>> const others = one + cut * columns;
    tensor<T, shape<Outer, Batch, M, N>> const straight = transpose<0, 1, 3, 2>(turned);
    auto const sums = sum<3>(a * vectors - one);
    auto const largest = max<3>(cut + vectors);
    bool same = true;
    for (size_t i = 0; i < Outer; ++i) {
        for (size_t j = 0; j < Batch; ++j) {
            for (size_t k = 0; k < M; ++k) {
                T total = 0, most = 0;
                for (size_t l = 0; l < N; ++l) {
                    T const product = a(i, j, k, l) * vectors(i, j, 0, l);
                    same = same && mixed(i, j, k, l) == product + columns(j, k, 0) -
                                                            turned(i, j, l, k) * 2 +
                                                            factors(i, 0, 0, 0);
                    same = same && others(i, j, k, l) ==
                                       one(k, l) + wide(i, j, k + 1, l + 1) * columns(j, k, 0);
                    same = same && straight(i, j, k, l) == turned(i, j, l, k);
                    total += product - one(k, l);
                    most = std::max(most, wide(i, j, k + 1, l + 1) + vectors(i, j, 0, l));
                }
                same = same && sums(i, j, k) == total && largest(i, j, k) == most;
            }
        }
    }
    CHECK(same);
}

} // namespace

TEST_CASE("batches of small matrices are computed as many at a time as fit") {
    check_batches<double, 1, 100, 3, 3>();
    check_batches<float, 2, 57, 3, 3>();
    check_batches<int, 3, 10, 4, 5>();
    check_batches<double, 2, 3, 2, 7>();
    check_batches<double, 5, 130, 2, 2>();
    check_batches<float, 2, 9, 8, 8>();
}

TEST_CASE("operands that are transposed, repeated or cut out give the right elements") {
    check_matrices<float, 16, 16>();
    check_matrices<float, 5, 7>();
    check_matrices<float, 40, 2>();
    check_matrices<float, 203, 7>();
    check_matrices<float, 7, 203>();
    check_matrices<float, 50, 100>();
    check_matrices<double, 3, 40>();
    check_matrices<double, 33, 20>();
    check_matrices<double, 150, 17>();
    check_matrices<float, 100, 20>();
    check_matrices<float, 35, 50>();
    check_matrices<int, 40, 9>();
    check_matrices<int, 33, 50>();
    check_matrices<std::int64_t, 7, 60>();
    check_matrices<std::int64_t, 33, 20>();
}

TEST_CASE("rows that fill no vectors have the elements of single numbers") {
    auto const check = [](auto const& a) {
        using S = typename std::remove_cvref_t<decltype(a)>::shape_type;
        using T = typename std::remove_cvref_t<decltype(a)>::value_type;
        constexpr size_t rows = S::extent[0], columns = S::extent[1];
        auto const column = numbers<T, rows, 1>();
        auto const row = numbers<T, columns>();
        tensor<T, S> const x = castnet::exp(a / (column + 1)) + castnet::sqrt(row);
        bool same = true;
        for (size_t i = 0; i < rows; ++i) {
            for (size_t j = 0; j < columns; ++j) {
                same = same && x(i, j) == castnet::exp(a(i, j) / (column(i, 0) + 1)) +
                                              castnet::sqrt(row(j));
            }
        }
        return same;
    };
    CHECK(check(numbers<float, 5, 20>()));
    CHECK(check(numbers<float, 43, 28>()));
    CHECK(check(numbers<float, 2, 60>()));
    CHECK(check(numbers<double, 19, 10>()));
    CHECK(check(numbers<double, 40, 15>()));
}

TEST_CASE("a zero that is repeated along rows keeps its sign") {
    auto const check = []<class T, size_t M, size_t N>(tensor<T, shape<M, N>> const& zeros) {
        tensor<T, shape<M, N>> const x = 1 / (zeros * tensor<T, shape<M, 1>>::full(-1));
        tensor<T, shape<M, N>> const y = tensor<T, shape<M, 1>>::full(T(-0.0)) + (zeros * T(-1));
        return all(x == -std::numeric_limits<T>::infinity()) &&
               all(1 / y == -std::numeric_limits<T>::infinity());
    };
    CHECK(check(tensor<float, shape<40, 7>>{}));
    CHECK(check(tensor<double, shape<13, 20>>{}));
    CHECK(check(tensor<float, shape<11, 6>>{}));
}

TEST_CASE("batches of matrices, axes in any order, and other types than the result's") {
    auto const x = numbers<float, 3, 70, 21>();
    auto const row = numbers<int, 3, 1, 70>();
    tensor<float, shape<3, 21, 70>> const y = transpose<0, 2, 1>(x) + row;
    tensor<float, shape<21, 70, 3>> const reversed = transpose(x) * 2;
    tensor<double, shape<3, 21, 70>> const wider = transpose<0, 2, 1>(x);
    tensor<float, shape<3, 21, 70>> const copied = transpose<0, 2, 1>(x);
    auto const four = tensor<float, shape<1, 70, 1>>::full(4);
    tensor<float, shape<3, 70, 2>> const narrow = slice<2, 0, 2>(x) / broadcast_to<3, 70, 1>(four);
    bool same = true;
    for (size_t b = 0; b < 3; ++b) {
        for (size_t i = 0; i < 70; ++i) {
            for (size_t j = 0; j < 21; ++j) {
                same = same && copied(b, j, i) == x(b, i, j) && wider(b, j, i) == x(b, i, j) &&
                       y(b, j, i) == x(b, i, j) + static_cast<float>(row(b, 0, i));
            }
            same = same && narrow(b, i, 1) == x(b, i, 1) / 4;
        }
    }
    CHECK(same);
    CHECK(array_equal(transpose(reversed), x * 2));
}

TEST_CASE("short rows are reduced as they are computed") {
    auto const a = numbers<float, 3, 203, 7>();
    auto const turned = numbers<float, 7, 203>();
    auto const column = numbers<float, 203, 1>();
    tensor<float, shape<3, 203, 7>> const b = (a - column) * transpose(turned);
    CHECK(array_equal(sum<2>((a - column) * transpose(turned)), sum<2>(b)));
    CHECK(array_equal(max<2>(-a * transpose(turned)), -min<2>(evaluate(a * transpose(turned)))));
    CHECK(
        array_equal(argmax<2>((a - column) * transpose(turned), keepdims), argmax<2>(b, keepdims)));
    CHECK(sum<2>(a + a)(2, 202) == 2 * sum(a[2][202]));
    CHECK(array_equal(sum<1>(transpose(turned) + 1), sum<0>(turned) + 7));
}

TEST_CASE("expressions own their temporaries in tiles, too") {
    auto const turned = numbers<float, 9, 130>();
    tensor<float, shape<130, 9>> const y =
        transpose(turned) +
        tensor<float, shape<130, 1>>::full(1) * tensor<float, shape<9>>::full(2);
    CHECK(array_equal(y, transpose(turned) + 2));
}

TEST_CASE("axes that lie as one have the elements of each") {
    auto const x = numbers<float, 4, 6, 5, 7>();
    auto const by_place = numbers<float, 4, 1, 5, 7>();
    auto const by_channel = numbers<float, 6, 1, 1>();
    auto const by_sample = numbers<float, 4, 1, 1, 1>();
    auto const row = numbers<float, 7>();
    auto const last_first = numbers<float, 4, 5, 7, 6>();
    auto const one = tensor<float, shape<1, 5, 7>>::full(3);
    tensor<float, shape<4, 6, 5, 7>> const places = x - by_place;
    tensor<float, shape<4, 6, 5, 7>> const channels = (x + by_channel) * by_sample - one;
    tensor<float, shape<4, 6, 5, 7>> const rows = x * row + by_sample;
    tensor<float, shape<4, 6, 5, 7>> const turned =
        transpose<0, 3, 1, 2>(last_first) + broadcast_to<6, 5, 7>(by_channel);
    tensor<float, shape<4, 1, 5, 7>> const narrow = slice<1, 2, 3>(x) + by_sample;
    tensor<float, shape<6, 6, 5, 7>> framed;
    slice<0, 1, 5>(framed) = x - by_place;
    tensor<float, shape<4, 6, 5, 9>> gaps;
    slice<3, 1, 8>(gaps) = x - by_place;
    bool same = true;
    for (size_t a = 0; a < 4; ++a) {
        for (size_t b = 0; b < 6; ++b) {
            for (size_t c = 0; c < 5; ++c) {
                for (size_t d = 0; d < 7; ++d) {
                    float const number = x(a, b, c, d), centred = number - by_place(a, 0, c, d);
                    same = same && places(a, b, c, d) == centred &&
                           framed(a + 1, b, c, d) == centred && gaps(a, b, c, d + 1) == centred &&
                           channels(a, b, c, d) ==
                               (number + by_channel(b, 0, 0)) * by_sample(a, 0, 0, 0) - 3 &&
                           rows(a, b, c, d) == number * row(d) + by_sample(a, 0, 0, 0) &&
                           turned(a, b, c, d) == last_first(a, c, d, b) + by_channel(b, 0, 0) &&
                           narrow(a, 0, c, d) == x(a, 2, c, d) + by_sample(a, 0, 0, 0);
                }
            }
        }
    }
    CHECK(same);
    CHECK(sum(framed) == sum(places));
    CHECK(sum(gaps) == sum(places));

    CHECK(array_equal(sum<1>(x - by_place), sum<1>(places)));
    CHECK(array_equal(sum<2, 3>(x - by_place), sum<2, 3>(places)));
    CHECK(array_equal(max<0, 1>(x - by_place, keepdims), max<0, 1>(places, keepdims)));
    CHECK(array_equal(argmax<2, 3>(x - by_place), argmax<2, 3>(places)));
    CHECK(array_equal(argmin<0, 3>(x - by_place), argmin<0, 3>(places)));
    CHECK(array_equal(max<1>(slice<1, 2, 3>(x) + by_sample), reshape<4, 5, 7>(narrow)));
    CHECK(sum(x - by_place) == sum(places));
}

TEST_CASE("costly operands that are repeated are computed with the same results") {
    auto const x = numbers<float, 40, 23>();
    auto const row = numbers<float, 23>();
    auto const column = numbers<float, 40, 1>();
    tensor<float, shape<23>> const deviation = castnet::sqrt(row + 1);
    tensor<float, shape<40, 1>> const power = castnet::exp(column * -0.1);
    tensor<float, shape<40, 23>> const y =
        (x - row) / castnet::sqrt(row + 1) + castnet::exp(column * -0.1);
    tensor<float, shape<40, 23>> const expected = (x - row) / deviation + power;
    CHECK(array_equal(y, expected));
    CHECK(array_equal(sum<1>((x - row) / castnet::sqrt(row + 1)),
                      sum<1>(evaluate((x - row) / deviation))));
    tensor<float, shape<40, 23>> own = x;
    own = own * castnet::sqrt(own[3]); // which it overwrites
    CHECK(array_equal(own, x * castnet::sqrt(x[3])));
    tensor<float, shape<40, 23>> const of_temporaries =
        tensor<float, shape<40, 23>>::full(2) * castnet::sqrt(tensor<float, shape<23>>(row * row));
    CHECK(array_equal(of_temporaries, 2 * broadcast_to<40, 23>(row)));
}
