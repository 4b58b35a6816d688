// concatenate and stack.
#include <castnet/tensor/tensor.hpp>

#include <doctest/doctest.h>

using namespace castnet;

TEST_CASE("concatenate joins along an axis that is there") {
    tensor<int, shape<2, 2>> const a{{1, 2}, {3, 4}};
    tensor<int, shape<1, 2>> const b{{5, 6}};
    tensor<int, shape<2, 1>> const c{{7}, {8}};
    CHECK(array_equal(concatenate<0>(a, b), tensor<int, shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}}));
    CHECK(array_equal(concatenate<1>(c, a, c * 10),
                      tensor<int, shape<2, 4>>{{7, 1, 2, 70}, {8, 3, 4, 80}}));
    CHECK(array_equal(concatenate<0>(a), a));
}

TEST_CASE("stack makes a new axis") {
    tensor<int, shape<2>> const a{1, 2};
    tensor<double, shape<2>> const b{0.5, 1.5};
    auto const rows = stack<0>(a, b, a + b);
    auto const columns = stack<1>(a, b);
    CHECK(array_equal(rows, tensor<double, shape<3, 2>>{{1, 2}, {0.5, 1.5}, {1.5, 3.5}}));
    CHECK(array_equal(columns, tensor<double, shape<2, 2>>{{1, 0.5}, {2, 1.5}}));
}
