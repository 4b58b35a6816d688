// Elements that tensors share with Eigen's matrices.
#include <castnet/tensor/eigen.hpp>
#include <castnet/tensor/tensor.hpp>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace cn = castnet;

using matrix = cn::tensor<double, cn::shape<2, 3>>;

TEST_CASE("Eigen computes with tensors") {
    matrix x = matrix::arange();
    auto const map = cn::eigen_map(x);
    static_assert(decltype(map)::RowsAtCompileTime == 2 && decltype(map)::ColsAtCompileTime == 3);
    CHECK(map(1, 0) == 3);
    Eigen::Matrix2d const product = map * map.transpose();
    CHECK(cn::array_equal(cn::tensor_view_of<cn::shape<2, 2>>(product),
                          cn::matmul(x, cn::transpose(x))));

    CHECK(cn::eigen_map(cn::transpose(x))(2, 1) == 5);
    cn::eigen_map(cn::slice<1, 0, 3, 2>(x)).setZero();
    CHECK(cn::array_equal(x, matrix{{0, 1, 0}, {0, 4, 0}}));
    auto const column = cn::eigen_map(cn::select<1>(x, 1));
    CHECK(column.sum() == 5);
    CHECK(cn::eigen_map(x[1]).maxCoeff() == 4);
    matrix const fixed = x;
    CHECK(cn::eigen_map(fixed).sum() == 5);
}

TEST_CASE("tensors compute with Eigen's matrices") {
    Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(2, 3);
    auto const view = cn::tensor_view_of<cn::shape<2, 3>>(columns);
    auto const row = cn::tensor<double, cn::shape<3>>::arange();
    view = view + row; // 0, 1, 2 in each
    CHECK(columns(1, 2) == 2);

    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(1, 3);
    rows << 1, 2, 3;
    CHECK(cn::sum(cn::tensor_view_of<cn::shape<1, 3>>(rows)) == 6);
    Eigen::RowVector3f const vector{1, 2, 4};
    CHECK(cn::sum(cn::tensor_view_of<cn::shape<3>>(vector)) == 7);
    CHECK_THROWS_WITH_AS(
        (cn::tensor_view_of<cn::shape<3, 2>>(columns)),
        "castnet: tensor_view_of: the matrix has 2 rows and 3 columns, expected 3 and 2",
        cn::error);
}
