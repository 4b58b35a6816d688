// Making tensors, reaching their elements, and the errors of both.
#include <castnet/tensor/tensor.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace castnet;

using matrix = tensor<float, shape<2, 3>>;

TEST_CASE("a tensor is zero, full, counted or an identity") {
    CHECK(array_equal(matrix(), matrix::zeros()));
    CHECK(array_equal(matrix::zeros(), 0));
    CHECK(array_equal(matrix::ones(), 1));
    CHECK(array_equal(matrix::full(2.5F), 2.5));
    CHECK(array_equal(matrix::arange(), matrix{{0, 1, 2}, {3, 4, 5}}));
    CHECK(array_equal(matrix::arange(1, -2), matrix{{1, -1, -3}, {-5, -7, -9}}));
    CHECK(array_equal(matrix::eye(), matrix{{1, 0, 0}, {0, 1, 0}}));
    CHECK(tensor<int, shape<>>(7)() == 7);
}

TEST_CASE("elements lie in row-major order, aligned to a cache line") {
    matrix const t{{1, 2, 3}, {4, 5, 6}};
    CHECK(std::vector<float>(t.begin(), t.end()) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(t.data()[4] == 5);
    CHECK(t(1, 0) == 4);
    CHECK(t[1](0) == 4);
    CHECK(t[1][2] == 6);
    CHECK(t.size() == 6);
    using large = tensor<float, shape<20, 30>>;
    CHECK(reinterpret_cast<std::uintptr_t>(large().data()) % 64 == 0);
    CHECK(alignof(matrix) == 32); // of 24 bytes
    CHECK(sizeof(tensor<float, shape<4, 4>>) == 64);
}

TEST_CASE("elements and sub-tensors can be written") {
    matrix t;
    t(0, 1) = 4;
    t.at(1, 2) = 5;
    t[1][0] = 6;
    CHECK(array_equal(t, matrix{{0, 4, 0}, {6, 0, 5}}));
    t[0] = 7;
    CHECK(array_equal(t, matrix{{7, 7, 7}, {6, 0, 5}}));
    t[1] = t[0] + 1;
    CHECK(array_equal(t, matrix{{7, 7, 7}, {8, 8, 8}}));
}

TEST_CASE("checked access names index, axis and extent") {
    matrix const t;
    CHECK_THROWS_WITH_AS(t.at(0, 3),
                         "castnet: index 3 on axis 1 is out of range: the tensor has 3 elements "
                         "along it",
                         error);
    CHECK_THROWS_AS(t.at(2, 0), error);
    CHECK_THROWS_AS(t.at(-1, 0), error);
    CHECK(t.at(1, 2) == 0);
}

TEST_CASE("braces must fit the shape") {
    CHECK_THROWS_WITH_AS((matrix{{1, 2, 3}, {4, 5}}),
                         "castnet: braces for axis 1 of a tensor hold 2 entries, but its shape "
                         "wants 3",
                         error);
    CHECK_THROWS_AS((matrix{{1, 2, 3}}), error);
    CHECK_THROWS_AS((matrix{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), error);
}

TEST_CASE("a tensor is made from any contiguous range of the right length") {
    CHECK(array_equal(matrix(std::vector<int>{1, 2, 3, 4, 5, 6}), matrix::arange(1)));
    CHECK_THROWS_WITH_AS(matrix(std::vector<float>(5)),
                         "castnet: a tensor of 6 elements cannot be made from a range of 5", error);
    CHECK_THROWS_AS(matrix(std::vector<float>(7)), error);
}

TEST_CASE_TEMPLATE("copies are independent, moves take the elements along", matrix,
                   tensor<float, shape<2, 3>>, tensor<float, shape<20, 30>>) {
    matrix a = matrix::arange();
    matrix b = a;
    b(0, 0) = 9;
    CHECK(a(0, 0) == 0);

    float const* const where = a.data();
    matrix c = std::move(a);
    CHECK((c.data() == where || sizeof(c) > sizeof(where))); // on the heap, or in the object
    CHECK(array_equal(c, matrix::arange()));

    a = b; // a tensor that was moved from can be assigned to again
    CHECK(array_equal(a, b));
    matrix d = std::move(a);
    a = d * 2;
    CHECK(a(0, 0) == 18);
    c = *&c;
    CHECK(array_equal(c, matrix::arange()));
}

TEST_CASE("a tensor can take another shape, with its elements") {
    CHECK(array_equal(matrix::arange().as<shape<3, 2>>(), tensor<float, shape<3, 2>>::arange()));
    using large = tensor<float, shape<20, 30>>;
    large a = large::arange();
    float const* const where = a.data();
    CHECK(std::move(a).as<shape<600>>().data() == where);
}

TEST_CASE("element and shape are deduced from an expression") {
    matrix const a = matrix::arange();
    tensor b = a + 1;
    static_assert(std::is_same_v<decltype(b), matrix>);
    auto const c = evaluate(transpose(a) * 2);
    static_assert(std::is_same_v<decltype(c), tensor<float, shape<3, 2>> const>);
    CHECK(c(2, 1) == 10);
}
