// Whole steps as one kernel of one block, on the host, against the same steps as kernels of their
// own. (The tests of layers and trainings run on both, too.)
#include <castnet/castnet.hpp>

#include "../tiny_networks.hpp"
#include "simulated_device.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using cn::cuda::product_shape;

namespace {

double number(std::ptrdiff_t i) {
    return double(i * 37 % 101) / 50 - 1;
}

// Rows of the result are a_row apart in a; the operands are just as large as the shape says.
template <product_shape P>
void check_product() {
    CAPTURE(P.rows);
    CAPTURE(P.columns);
    CAPTURE(P.depth);
    auto const last = [](int n, int stride) { return std::ptrdiff_t(n - 1) * stride; };
    std::vector<double> a(std::size_t(last(P.rows, P.a_row) + last(P.depth, P.a_step) + 1));
    std::vector<double> b(std::size_t(last(P.columns, P.b_step) + last(P.depth, P.b_row) + 1));
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = number(std::ptrdiff_t(i));
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = number(std::ptrdiff_t(3 * i + 1));
    }
    constexpr double untouched = 12345;
    std::vector<double> out(std::size_t(P.rows * P.columns + 1), untouched), expected;
    constexpr auto tiling = cn::cuda::tiling_of(P);
    CHECK(tiling.tiles() * tiling.rows * tiling.columns >= P.rows * P.columns);
    simt::launch({1, cn::cuda::block_threads, sizeof(double) * (tiling.scratch() + 1)},
                 cn::cuda::block_product_body<P, double>{a.data(), b.data(), out.data()});
    for (int i = 0; i < P.rows; ++i) {
        for (int j = 0; j < P.columns; ++j) {
            double sum = 0;
            for (int k = 0; k < P.depth; ++k) {
                sum += a[std::size_t(i * P.a_row + k * P.a_step)] *
                       b[std::size_t(k * P.b_row + j * P.b_step)];
            }
            expected.push_back(sum);
        }
    }
    expected.push_back(untouched);
    CHECK(check::largest_difference(out, expected) <= 1e-12);
}

// The three products of a dense layer.
template <int Batch, int In, int Units>
void check_dense() {
    check_product<product_shape{Batch, Units, In, In, 1, Units, 1, Units}>();
    check_product<product_shape{Batch, In, Units, Units, 1, 1, Units, In}>();
    check_product<product_shape{In, Units, Batch, 1, In, Units, 1, Units}>();
}

using images = cn::sequential<cn::input<1, 6, 6>, cn::conv2d<2, 3>, cn::flatten, cn::dense<1>>;
using wide = cn::sequential<cn::input<13>, cn::dense<512>, cn::relu, cn::dense<1>>;

struct with_product_of_parameters { // whose shared memory no other product needs
    struct layers {
        constexpr auto operator()(auto x) const {
            auto const table = cn::new_parameter<cn::shape<16, 64>>(
                *x.g, "table", {.start = cn::random_normal(0.5F)});
            return cn::matmul(x, table | cn::dense<16>) | cn::dense<1>;
        }
    };
    using network = cn::network<layers{}, cn::input<16>>;
    using data = cn::data::dataset<cn::shape<1>, cn::shape<16>>;
};

template <class Network, bool OneBlock>
constexpr bool fits = check::tiny<Network, simt::policy<OneBlock>, 32>::trains_in_one_kernel;

static_assert(fits<check::regression::network, true>);
static_assert(fits<check::classifier::network, true>);
static_assert(fits<with_product_of_parameters::network, true>);
static_assert(!fits<check::regression::network, false>);
static_assert(!fits<images, true>); // cuDNN's
static_assert(!fits<wide, true>);   // too much memory

template <class Case>
void check_training() {
    CHECK(check::largest_difference(check::tiny_training<Case, simt::policy<true>, 12>(),
                                    check::tiny_training<Case, simt::policy<false>, 12>()) <=
          1e-12);
}

} // namespace

TEST_CASE("products of every size") {
    check_dense<128, 13, 16>();
    check_dense<128, 16, 32>();
    check_dense<128, 32, 1>();
    check_dense<1, 1, 1>();
    check_dense<1, 64, 3>();
    check_dense<5, 3, 7>();
    check_dense<37, 19, 33>();
    check_dense<300, 2, 5>();
    check_dense<64, 70, 90>();
}

TEST_CASE("a training in one block is that of kernels of their own") {
    check_training<check::regression>();
    check_training<check::classifier>();
    check_training<with_product_of_parameters>();
}
