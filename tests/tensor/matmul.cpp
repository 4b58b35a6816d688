// Matrix products against the definition.
#include <castnet/tensor/tensor.hpp>

#include <doctest/doctest.h>

using namespace castnet;

namespace {

template <class T, size_t M, size_t K, size_t N>
void check_product() {
    tensor<T, shape<M, K>> a;
    tensor<T, shape<K, N>> b;
    a = 3 * castnet::sin(tensor<double, shape<M, K>>::arange());
    b = 3 * castnet::cos(tensor<double, shape<K, N>>::arange());
    tensor<double, shape<M, N>> expected;
    for (size_t i = 0; i < M; ++i) {
        for (size_t j = 0; j < N; ++j) {
            for (size_t k = 0; k < K; ++k) {
                expected(i, j) += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
            }
        }
    }
    INFO(M << " x " << K << " x " << N);
    CHECK(allclose(matmul(a, b), expected, 1e-4, 1e-3));
    CHECK(allclose(matmul(transpose(b), transpose(a)), transpose(expected), 1e-4, 1e-3));
    CHECK(allclose(matmul(a * 2, b + b), 4 * expected, 1e-4, 1e-3));
}

} // namespace

TEST_CASE("products of matrices of all sizes around the blocks") {
    check_product<float, 1, 1, 1>();
    check_product<float, 3, 5, 7>();
    check_product<float, 4, 256, 16>();
    check_product<float, 9, 300, 35>();
    check_product<double, 64, 17, 33>();
    check_product<double, 5, 513, 8>();
    check_product<float, 7, 3000, 20>(); // deeper than what is multiplied at once
    check_product<double, 2, 2500, 35>();
    check_product<float, 3, 3, 3>();  // scalars
    check_product<float, 4, 4, 4>();  // one vector
    check_product<float, 2, 3, 17>(); // a vector and one number
    check_product<float, 7, 300, 130>();
    check_product<float, 150, 130, 70>();
    check_product<double, 1, 40, 200>();
    check_product<double, 70, 65, 1>();
    check_product<float, 10, 784, 1>(); // turned: one row times many short ones
    check_product<float, 1, 784, 10>();
    check_product<double, 3, 2000, 5>();
    check_product<int, 5, 6, 7>();
}

TEST_CASE("vectors are rows on the left and columns on the right") {
    tensor<int, shape<2, 3>> const a{{1, 2, 3}, {4, 5, 6}};
    tensor<int, shape<3>> const x{1, 0, -1};
    tensor<int, shape<2>> const y{1, 2};
    CHECK(array_equal(matmul(a, x), tensor<int, shape<2>>{-2, -2}));
    CHECK(array_equal(matmul(y, a), tensor<int, shape<3>>{9, 12, 15}));
    auto const inner = matmul(y, y);
    static_assert(std::is_same_v<decltype(inner)::shape_type, shape<>>);
    CHECK(inner() == 5);
    CHECK(dot(x, x + 1) == 2);
}

// The product of Rows x Length numbers, as they lie or turned, and a vector, from both sides.
template <class T, size_t Rows, size_t Length>
void multiply_vector() {
    auto const a = random_normal<T, shape<Rows, Length>>(1);
    auto const columns = evaluate(transpose(a));
    auto const x = random_normal<T, shape<Length>>(2);
    auto const product = sum<1>(a * x);
    CHECK(allclose(matmul(a, x), product, 1e-5, 1e-5));
    CHECK(allclose(matmul(transpose(columns), x), product, 1e-5, 1e-5));
    CHECK(allclose(matmul(x, columns), product, 1e-5, 1e-5));
    CHECK(allclose(matmul(x, transpose(a)), product, 1e-5, 1e-5));
}

TEST_CASE_TEMPLATE("small matrices times vectors", T, float, double) {
    multiply_vector<T, 1, 1>();
    multiply_vector<T, 2, 3>();
    multiply_vector<T, 3, 3>();
    multiply_vector<T, 4, 4>();
    multiply_vector<T, 4, 5>();
    multiply_vector<T, 5, 4>();
    multiply_vector<T, 16, 2>();
    multiply_vector<T, 17, 2>();
}

TEST_CASE("rows times small matrices, and these turned times columns") {
    check_product<double, 1, 3, 3>();
    check_product<float, 1, 4, 4>();
    check_product<double, 1, 6, 7>();
    check_product<float, 1, 12, 16>();
    check_product<float, 3, 3, 1>();
    check_product<float, 2, 4, 1>(); // rows of a vector
    check_product<double, 3, 4, 1>();
    check_product<float, 4, 4, 1>();
    check_product<double, 7, 6, 1>();
    check_product<double, 33, 20, 1>();
    tensor<float, shape<5, 6, 7>> const all = castnet::sin(tensor<float, shape<5, 6, 7>>::arange());
    tensor<float, shape<5, 6>> const forces = castnet::cos(tensor<float, shape<5, 6>>::arange());
    auto const turned = einsum<"bij,bi->bj">(all, forces);
    for (size_t i = 0; i != 5; ++i) {
        CHECK(allclose(turned[i], matmul(forces[i], all[i]), 1e-5, 1e-5));
    }
}

TEST_CASE("a matrix in another order, or with gaps, times a vector") {
    using block = tensor<float, shape<37, 41>>;
    block const a = castnet::sin(block::arange());
    tensor<float, shape<37>> const x = castnet::cos(tensor<float, shape<37>>::arange());
    tensor<float, shape<41>> const expected = sum<0>(a * expand_dims<1>(x));
    CHECK(allclose(matmul(transpose(a), x), expected, 1e-4, 1e-4));
    CHECK(allclose(matmul(x, a), expected, 1e-4, 1e-4));
    CHECK(allclose(matmul(transpose(slice<1, 0, 41, 2>(a)), x), slice<0, 0, 41, 2>(expected), 1e-4,
                   1e-4));
    CHECK(allclose(matmul(slice<1, 0, 40, 2>(a), slice<0, 1, 41, 2>(expected)),
                   matmul(evaluate(slice<1, 0, 40, 2>(a)), evaluate(slice<0, 1, 41, 2>(expected))),
                   1e-4, 1e-4));
}

TEST_CASE("batches of matrices broadcast") {
    using left = tensor<float, shape<2, 1, 3, 4>>;
    using right = tensor<float, shape<5, 4, 6>>;
    left const a = castnet::sin(left::arange());
    right const b = castnet::cos(right::arange());
    tensor const product = matmul(a, b);
    static_assert(std::is_same_v<decltype(product)::shape_type, shape<2, 5, 3, 6>>);
    for (size_t i = 0; i < 2; ++i) {
        for (size_t j = 0; j < 5; ++j) {
            CHECK(allclose(product[i][j], matmul(a[i][0], b[j])));
        }
    }
    tensor<float, shape<4>> const x{1, 2, 3, 4};
    tensor const applied = matmul(a, x);
    static_assert(std::is_same_v<decltype(applied)::shape_type, shape<2, 1, 3>>);
    CHECK(allclose(applied[1][0], matmul(a[1][0], x)));
    tensor<float, shape<3>> const y{1, 2, 3};
    static_assert(std::is_same_v<decltype(matmul(y, a))::shape_type, shape<2, 1, 4>>);
}

TEST_CASE("mixed element types meet in their common type") {
    tensor<int, shape<2, 2>> const a{{1, 2}, {3, 4}};
    tensor<double, shape<2, 2>> const b{{0.5, 0}, {0, 0.25}};
    CHECK(array_equal(matmul(a, b), tensor<double, shape<2, 2>>{{0.5, 0.5}, {1.5, 1}}));
    CHECK(array_equal(matmul(b, a), tensor<double, shape<2, 2>>{{0.5, 1}, {0.75, 1}}));
}

TEST_CASE("a product with an end is the function of the product") {
    tensor<float, shape<30, 20>> const a = random_normal<float, shape<30, 20>>(1);
    tensor<float, shape<20, 70>> const b = random_normal<float, shape<20, 70>>(2);
    tensor<float, shape<70>> const row = random_normal<float, shape<70>>(3);
    tensor<float, shape<30, 1>> const column = random_normal<float, shape<30, 1>>(4);
    auto const product = matmul(a, b);
    CHECK(allclose(matmul(a, b, [&](auto y) { return relu(0.5 * y + row); }),
                   relu(0.5 * product + row)));
    CHECK(allclose(matmul(a, b, [&](auto y) { return y * castnet::tanh(y - column) / row; }),
                   product * castnet::tanh(product - column) / row, 1e-4, 1e-4));
    CHECK(allclose(matmul(a, b, [&](auto y) { return y + castnet::exp(row * 2); }),
                   product + castnet::exp(row * 2)));
    CHECK(array_equal(matmul(a, b, [](auto y) { return y; }), product));
    // of another type
    tensor<double, shape<70>> const wide = row;
    auto const doubles = matmul(a, b, [&](auto y) { return y + wide; });
    static_assert(std::is_same_v<decltype(doubles)::value_type, double>);
    CHECK(allclose(doubles, product + wide));
    // vectors and batches
    CHECK(allclose(matmul(a[0], b, [&](auto y) { return y + row; }), product[0] + row));
    CHECK(allclose(matmul(a, select<1>(b, 3), [](auto y) { return -y; }),
                   -matmul(a, select<1>(b, 3))));
    CHECK(matmul(a[1], a[2], [](auto y) { return y + 1; })() ==
          doctest::Approx(1 + dot(a[1], a[2])));
    auto const pair = stack<0>(a, 2 * a);
    CHECK(allclose(matmul(pair, b, [&](auto y) { return relu(y + row); }),
                   relu(matmul(pair, b) + row)));
}
