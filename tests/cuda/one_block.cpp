// Whole steps as one kernel of one block, on the host, against the same steps as kernels of their
// own. (The tests of layers and trainings run on both, too.)
#include <castnet/castnet.hpp>

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
    std::vector<double> out(std::size_t(P.rows * P.columns + 1), 12345);
    constexpr auto tiling = cn::cuda::tiling_of(P);
    CHECK(tiling.tiles() * tiling.rows * tiling.columns >= P.rows * P.columns);
    simt::launch({1, cn::cuda::block_threads, sizeof(double) * (tiling.scratch() + 1)},
                 cn::cuda::block_product_body<P, double>{a.data(), b.data(), out.data()});
    double worst = 0;
    for (int i = 0; i < P.rows; ++i) {
        for (int j = 0; j < P.columns; ++j) {
            double sum = 0;
            for (int k = 0; k < P.depth; ++k) {
                sum += a[std::size_t(i * P.a_row + k * P.a_step)] *
                       b[std::size_t(k * P.b_row + j * P.b_step)];
            }
            double const d = std::fabs(out[std::size_t(i * P.columns + j)] - sum);
            worst = d <= worst ? worst : d == d ? d : 1e300;
        }
    }
    CHECK(worst <= 1e-12);
    CHECK(out.back() == 12345);
}

// The three products of a dense layer.
template <int Batch, int In, int Units>
void check_dense() {
    check_product<product_shape{Batch, Units, In, In, 1, Units, 1}>();
    check_product<product_shape{Batch, In, Units, Units, 1, 1, Units}>();
    check_product<product_shape{In, Units, Batch, 1, In, Units, 1}>();
}

using regression = cn::sequential<cn::input<13>, cn::dense<16>.l2(0.01F), cn::relu, cn::dense<32>,
                                  cn::batch_norm, cn::tanh, cn::dense<1>>;
using classifier = cn::sequential<cn::input<2, 6, 6>, cn::max_pool2d<2>, cn::flatten, cn::dense<9>,
                                  cn::dropout<0.25F>, cn::gelu, cn::dense<5>>;
using images = cn::sequential<cn::input<1, 6, 6>, cn::conv2d<2, 3>, cn::flatten, cn::dense<1>>;
using wide = cn::sequential<cn::input<13>, cn::dense<512>, cn::relu, cn::dense<1>>;

template <class Network, std::size_t Batch, bool OneBlock>
using model_of = cn::model<Network, simt::policy<OneBlock>, cn::batch<Batch>>;
template <class Model>
using training_of = decltype(cn::compile(std::declval<Model&>(), cn::mse, cn::adam{}));
template <class Model>
constexpr bool fits = Model::device::template in_one_block<training_of<Model>::training_plan>;

static_assert(fits<model_of<regression, 32, true>>);
static_assert(!fits<model_of<regression, 32, false>>);
static_assert(!fits<model_of<images, 32, true>>); // cuDNN's
static_assert(!fits<model_of<wide, 32, true>>);   // too much memory

// Two epochs whose last batch is short, in one block and not.
template <class Network, class Data>
void check_training() {
    constexpr std::size_t batch = 12;
    std::vector<float> inputs(29 * Data::template input_shape<0>::count);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = float(number(std::ptrdiff_t(i * i)));
    }
    std::vector<float> targets(29 * Data::target_count, 0.5F);
    Data const data{inputs, targets};
    auto const run = [&]<bool OneBlock>(std::bool_constant<OneBlock>) {
        model_of<Network, batch, OneBlock> model{cn::seed{4}};
        static_assert(fits<decltype(model)> == OneBlock);
        auto training = cn::compile(model, cn::mse, cn::momentum{}, cn::mae);
        auto const h =
            training.fit(data, {.epochs = 2, .validation = data, .verbose = cn::verbosity::silent});
        std::vector<double> all = model.predict(data);
        for (char const* const column : {"loss", "mae", "val_loss", "val_mae"}) {
            all.push_back(h[column].back());
        }
        for (std::size_t i = 0; i < model.parameter_count(); ++i) {
            std::string const name = model.parameter_at(i).name.text();
            auto const w = model.get(name);
            all.insert(all.end(), w.begin(), w.end());
            auto const g = training.gradient(name);
            all.insert(all.end(), g.begin(), g.end());
        }
        return all;
    };
    auto const found = run(std::true_type{}), expected = run(std::false_type{});
    REQUIRE(found.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double const d = std::fabs(found[i] - expected[i]);
        worst = d <= worst ? worst : d == d ? d : 1e300;
    }
    CHECK(worst <= 1e-12);
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
    check_training<regression, cn::data::dataset<cn::shape<1>, cn::shape<13>>>();
    check_training<classifier, cn::data::dataset<cn::shape<5>, cn::shape<2, 6, 6>>>();
}
