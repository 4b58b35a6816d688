// flip, roll, take, tile, repeat_interleave and pad, against NumPy.
#include <castnet/tensor/tensor.hpp>

#include "golden_functions.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

using namespace castnet;

namespace {

tensor<double, shape<2, 3, 4>> const x = castnet::sin(tensor<double, shape<2, 3, 4>>::arange());

template <class S, class X>
bool is(X const& found, std::vector<double> const& expected) {
    static_assert(std::is_same_v<typename X::shape_type, S>);
    return allclose(found, tensor<double, S>(expected), 1e-12, 1e-12);
}

} // namespace

TEST_CASE("axes are reversed and moved in a circle") {
    CHECK(is<shape<2, 3, 4>>(flip<1>(x), golden::flipped));
    CHECK(is<shape<2, 3, 4>>(flip<2>(x + 0), golden::flipped_rows));
    CHECK(is<shape<2, 3, 4>>(roll<2>(x, 5), golden::rolled));
    CHECK(is<shape<2, 3, 4>>(roll<0>(x, -1), golden::rolled_back));
    for (std::ptrdiff_t const shift : {-8, -4, 0, 4, 12}) {
        CHECK(array_equal(roll<2>(x, shift), x));
    }
    auto const flipped = flip<2>(x);
    CHECK(array_equal(flip<0>(transpose(x)), transpose(flipped)));
}

TEST_CASE("long rows are reversed and moved as short ones are") {
    auto const counted = tensor<std::uint16_t, shape<3, 150>>::arange();
    for (std::ptrdiff_t const shift : {1, 40, 149}) {
        auto const rolled = roll<1>(counted, shift), back = roll<1>(rolled, -shift);
        CHECK(array_equal(back, counted));
        CHECK(rolled(2, shift) == counted(2, 0));
        CHECK(rolled(1, shift - 1) == counted(1, 149));
        CHECK(rolled(0, 149) == counted(0, 149 - shift));
    }
    auto const flipped = flip<1>(counted);
    CHECK(array_equal(flipped + counted, 149 + 300 * (counted / 150)));
}

namespace {

// Every shift of the rows, which are Extent positions of Inner elements.
template <size_t Rows, size_t Extent, size_t Inner>
void check_roll() {
    auto const x = tensor<int, shape<Rows, Extent, Inner>>::arange();
    for (size_t shift = 0; shift != Extent; ++shift) {
        auto const rolled = roll<1>(x, std::ptrdiff_t(shift));
        bool right = true;
        for (size_t i = 0; i != Rows; ++i) {
            for (size_t j = 0; j != Extent; ++j) {
                for (size_t k = 0; k != Inner; ++k) {
                    right = right && rolled(i, (j + shift) % Extent, k) == x(i, j, k);
                }
            }
        }
        INFO(Rows << " x " << Extent << " x " << Inner << ", moved by " << shift);
        CHECK(right);
    }
}

} // namespace

TEST_CASE("rows of any length are moved in a circle") {
    check_roll<5, 1, 1>();
    check_roll<100, 3, 1>();
    check_roll<1, 4, 1>();
    check_roll<9, 5, 3>();
    check_roll<3, 16, 2>();
    check_roll<7, 33, 1>();
    check_roll<2, 20, 5>();
}

namespace {

// flip of a tensor, of an expression and of a temporary one, beside element by element.
template <class T, class S, size_t... Axes>
void check_flip() {
    constexpr size_t rank = S::rank;
    auto given = tensor<T, S>::empty();
    for (size_t i = 0; i != given.size(); ++i) {
        given.data()[i] = static_cast<T>(i * 7 + i / 5 % 3);
    }
    auto expected = tensor<T, S>::empty();
    for (size_t i = 0; i != given.size(); ++i) {
        size_t from = 0;
        for (size_t axis = 0; axis != rank; ++axis) {
            size_t const step = row_major<S>::step[axis], extent = S::extent[axis];
            size_t const at = i / step % extent;
            from += step * (((axis == Axes) || ...) ? extent - 1 - at : at);
        }
        expected.data()[i] = given.data()[from];
    }
    CHECK(array_equal(flip<Axes...>(given), expected));
    CHECK(array_equal(flip<Axes...>(given * T(1)), expected));
    CHECK(array_equal(flip<Axes...>(tensor<T, S>(given)), expected));
    CHECK(array_equal(flip<Axes...>(given.view()), expected));
    CHECK(array_equal(flip<Axes...>(flip<Axes...>(given)), given));
}
template <class T, size_t... Inner>
void check_positions() {
    (check_flip<T, shape<2, 101, Inner>, 1>(), ...);
    (check_flip<T, shape<7, Inner>, 0, 1>(), ...);
    (check_flip<T, shape<3, Inner, 5>, 0>(), ...);
}

} // namespace

TEST_CASE_TEMPLATE("positions of any size are reversed, elsewhere and in place", T, std::uint8_t,
                   std::int16_t, float, double) {
    check_positions<T, 1, 2, 3, 4, 5, 8, 9, 17, 33, 64, 71>();
    check_flip<T, shape<3, 1, 5, 4>, 0, 2>();
    check_flip<T, shape<3, 4, 1, 5>, 3, 1, 2>();
    check_flip<T, shape<1, 3>, 0>();
}

TEST_CASE("positions of an axis are taken by their numbers") {
    tensor<int, shape<2, 2>> const ids{{2, 0}, {1, 2}};
    CHECK(is<shape<2, 2, 2, 4>>(take<1>(x, ids), golden::taken));
    CHECK(is<shape<2, 3, 3>>(take<2>(x, tensor<std::uint8_t, shape<3>>{3, 3, 0}),
                             golden::taken_last));
    CHECK(array_equal(take<0>(sort(x[0][0]), argsort(argsort(x[0][0]))), x[0][0]));
    CHECK_THROWS_WITH_AS(take<1>(x, ids + 1),
                         doctest::Contains("castnet: take: id 3 at place 0 is out of range: the "
                                           "axis has 3 positions"),
                         error);
    CHECK_THROWS_WITH_AS(take<1>(x, -ids), doctest::Contains("id -2 at place 0"), error);
}

TEST_CASE("tensors and their positions are repeated") {
    CHECK(is<shape<2, 6, 12>>(tile<1, 2, 3>(x), golden::tiled));
    CHECK(is<shape<2, 6, 4>>(repeat_interleave<1, 2>(x), golden::repeated));
    CHECK(is<shape<2, 3, 12>>(repeat_interleave<2, 3>(x * 1), golden::repeated_last));
    CHECK(array_equal(tile<1, 1, 1>(transpose(x)), transpose(x)));
}

TEST_CASE("axes are padded") {
    CHECK(is<shape<2, 6, 4>>(pad<1, 2, 1>(x), golden::padded));
    CHECK(is<shape<3, 3, 7>>(pad<0, 1, 0>(pad<2, 0, 3>(x * 1, -0.5), -0.5), golden::padded_rows));
    CHECK(array_equal(pad<1, 0, 0>(transpose(x)), transpose(x)));
    CHECK(array_equal(pad<0, 1, 2>(tensor<int, shape<2>>{1, 2}, 7.9),
                      tensor<int, shape<5>>{7, 1, 2, 7, 7}));
}
