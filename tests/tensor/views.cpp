// Views: they show the right elements, share them, and are writable where the tensor is.
#include <castnet/tensor/tensor.hpp>

#include <doctest/doctest.h>

using namespace castnet;

using block = tensor<int, shape<2, 3, 4>>;

TEST_CASE("transpose reorders axes") {
    block const x = block::arange();
    auto const reversed = transpose(x);
    auto const moved = transpose<2, 0, 1>(x);
    static_assert(std::is_same_v<decltype(reversed)::shape_type, shape<4, 3, 2>>);
    static_assert(std::is_same_v<decltype(moved)::shape_type, shape<4, 2, 3>>);
    for (size_t i = 0; i < 2; ++i) {
        for (size_t j = 0; j < 3; ++j) {
            for (size_t k = 0; k < 4; ++k) {
                CHECK(reversed(k, j, i) == x(i, j, k));
                CHECK(moved(k, i, j) == x(i, j, k));
            }
        }
    }
    CHECK(array_equal(transpose(reversed), x));
    CHECK(array_equal(evaluate(moved), moved));
}

TEST_CASE("masks are transposed as numbers are") {
    tensor<int, shape<20, 30>> const x = tensor<int, shape<20, 30>>::arange();
    tensor<bool, shape<20, 30>> const mask = x == 3 * 30 + 4;
    tensor<bool, shape<30, 20>> const turned = transpose(mask);
    CHECK(array_equal(turned, transpose(x) == 3 * 30 + 4));
    auto const stack = tensor<float, shape<2, 20, 30>>::arange();
    auto const any_row = any<1>(stack);
    CHECK(array_equal(any<0>(transpose<1, 2, 0>(stack)), transpose(any_row)));
    tensor<bool, shape<2, 20, 30>> const masks = stack > 700;
    CHECK(array_equal(max<2>(transpose<1, 2, 0>(masks)), max<0>(masks)));
    CHECK(array_equal(max<0>(transpose(mask)), max<1>(mask)));
}

TEST_CASE("slices count in steps") {
    tensor<int, shape<3, 7>> x = tensor<int, shape<3, 7>>::arange();
    CHECK(array_equal(slice<1, 1, 6, 2>(x),
                      tensor<int, shape<3, 3>>{{1, 3, 5}, {8, 10, 12}, {15, 17, 19}}));
    CHECK(array_equal(slice<1, 0, 7, 3>(x),
                      tensor<int, shape<3, 3>>{{0, 3, 6}, {7, 10, 13}, {14, 17, 20}}));
    CHECK(array_equal(slice<1, 5, 7>(slice<0, 1, 2>(x)), tensor<int, shape<1, 2>>{{12, 13}}));
    slice<1, 0, 7, 6>(x) = -1;
    CHECK(array_equal(x[2], tensor<int, shape<7>>{-1, 15, 16, 17, 18, 19, -1}));
}

TEST_CASE("split makes views of equal parts") {
    block const before = block::arange();
    block x = before;
    auto const [first, second, third] = split<1, 3>(x);
    static_assert(std::is_same_v<decltype(first)::shape_type, shape<2, 1, 4>>);
    CHECK(array_equal(squeeze<1>(second), select<1>(x, 1)));
    split<2, 2>(x)[1] = 0;
    CHECK(array_equal(slice<2, 0, 2>(x), slice<2, 0, 2>(before)));
    CHECK(x(1, 2, 2) + x(1, 2, 3) + x(0, 0, 2) == 0);
    CHECK(third(1, 0, 1) == 21);
    CHECK(array_equal(split<0, 1>(x)[0], x));
}

TEST_CASE("select throws beyond the axis") {
    block const x;
    CHECK_THROWS_WITH_AS(select<1>(x, 3),
                         "castnet: index 3 on axis 1 is out of range: the tensor has 3 elements "
                         "along it",
                         castnet::error);
}

TEST_CASE("select, expand_dims and squeeze remove and add axes") {
    block const x = block::arange();
    CHECK(array_equal(select<0>(x, 1), x[1]));
    CHECK(array_equal(select<1>(x, 2), tensor<int, shape<2, 4>>{{8, 9, 10, 11}, {20, 21, 22, 23}}));
    CHECK(array_equal(select<2>(x, 0), tensor<int, shape<2, 3>>{{0, 4, 8}, {12, 16, 20}}));
    auto const expanded = expand_dims<1>(x);
    static_assert(std::is_same_v<decltype(expanded)::shape_type, shape<2, 1, 3, 4>>);
    CHECK(array_equal(squeeze<1>(expanded), x));
    static_assert(std::is_same_v<decltype(expand_dims<3>(x))::shape_type, shape<2, 3, 4, 1>>);
}

TEST_CASE("reshape shares the elements") {
    block x = block::arange();
    auto const flat = reshape<24>(x);
    CHECK(array_equal(flat, tensor<int, shape<24>>::arange()));
    flat[5] = -1;
    CHECK(x(0, 1, 1) == -1);
    CHECK(array_equal(reshape<2, 2>(x[1][2]), tensor<int, shape<2, 2>>{{20, 21}, {22, 23}}));
}

TEST_CASE("broadcast_to repeats elements without copying") {
    tensor<int, shape<2, 1>> const x{{1}, {2}};
    auto const wide = broadcast_to<3, 2, 2>(x);
    CHECK(wide.data() == x.data());
    CHECK(array_equal(
        wide, tensor<int, shape<3, 2, 2>>{{{1, 1}, {2, 2}}, {{1, 1}, {2, 2}}, {{1, 1}, {2, 2}}}));
    static_assert(std::is_same_v<decltype(wide(0, 0, 0)), int const&>);
}

TEST_CASE("assigning a view writes elements, copying it does not") {
    tensor<int, shape<2, 2>> a{{1, 2}, {3, 4}};
    tensor<int, shape<2, 2>> b{{5, 6}, {7, 8}};
    auto view = transpose(a);
    view = transpose(b);
    CHECK(array_equal(a, b));
    auto copy = view;
    copy(0, 1) = 0;
    CHECK(a(1, 0) == 0);
    a[0] = b[1];
    CHECK(array_equal(a, tensor<int, shape<2, 2>>{{7, 8}, {0, 8}}));
}

TEST_CASE("a row of a temporary tensor is a tensor of its own") {
    auto const row = evaluate(block::arange() * 2)[1];
    static_assert(std::is_same_v<decltype(row), tensor<int, shape<3, 4>> const>);
    CHECK(row(2, 3) == 46);
    auto const number = tensor<int, shape<3>>{4, 5, 6}[2];
    static_assert(std::is_same_v<decltype(number), int const>);
    CHECK(number == 6);
}

TEST_CASE("views of constant tensors only read") {
    block const x = block::arange();
    static_assert(std::is_same_v<decltype(transpose(x)(0, 0, 0)), int const&>);
    tensor<int, shape<2>> y{1, 2};
    tensor_view<int const, shape<2>> const reading = y.view();
    CHECK(reading.at(1) == 2);
    CHECK_THROWS_AS(reading.at(2), error);
}
