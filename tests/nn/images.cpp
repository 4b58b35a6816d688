// Layers of images beyond convolution and pooling, against PyTorch and against finite differences.
#include <castnet/nn/adaptive_pooling.hpp>
#include <castnet/nn/border_padding.hpp>
#include <castnet/nn/conv_transpose2d.hpp>
#include <castnet/nn/depthwise_conv2d.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/mean_iou.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pad2d.hpp>
#include <castnet/nn/prelu.hpp>
#include <castnet/nn/squeeze_excitation.hpp>
#include <castnet/nn/stochastic_depth.hpp>
#include <castnet/nn/unfold2d.hpp>

#include "harness.hpp"

#include <array>
#include <cmath>

namespace cn = castnet;
using check::run_of, check::values, cn::conv, cn::conv_transpose, cn::shape, cn::size2;

namespace {

using image = shape<3, 7, 8>;

void as_torch(check::layer_run r, std::string const& name) {
    check::against_golden(std::move(r), name, 1e-12, "images");
}
template <auto Layer, class Shape>
void against_finite_differences() {
    check::against_finite_differences(run_of<Layer, Shape, true, 2>());
}

} // namespace

TEST_CASE("unfolded images") {
    constexpr conv options{.stride = size2{2, 1}, .padding = size2{1, 2}, .dilation = size2{2, 1}};
    as_torch(run_of<cn::unfold2d<2>, shape<2, 3, 4>>(), "unfold2d_2");
    as_torch(run_of<cn::unfold2d<size2{2, 3}, options>, shape<2, 3, 4>>(),
             "unfold2d_2x3_stride2x1_pad1x2_dilation2x1");
    static constexpr auto same = cn::unfold2d<3, conv{.stride = 2, .padding = cn::same}>;
    static_assert(std::is_same_v<cn::symbol<shape<9, 6>>,
                                 decltype(same(std::declval<cn::symbol<shape<1, 4, 5>>>()))>);
    against_finite_differences<same, shape<1, 4, 5>>();
}

TEST_CASE("transposed convolution") {
    using cn::conv_transpose2d;
    as_torch(run_of<conv_transpose2d<4, 3>, shape<3, 5, 4>>(), "conv_transpose2d_3");
    as_torch(run_of<conv_transpose2d<4, 2, conv_transpose{.stride = 2}>, shape<8, 4, 3>>(),
             "conv_transpose2d_2_stride2");
    as_torch(run_of<conv_transpose2d<6, 3, conv_transpose{2, 1, 1}>, shape<3, 4, 5>>(),
             "conv_transpose2d_3_stride2_pad1_more1");
    as_torch(
        run_of<
            conv_transpose2d<3, size2{3, 4}, conv_transpose{size2{3, 2}, size2{1, 2}, size2{2, 0}}>,
            shape<2, 4, 5>>(),
        "conv_transpose2d_3x4_stride3x2_pad1x2");
    as_torch(run_of<conv_transpose2d<6, 3, conv_transpose{.dilation = 2, .groups = 2}>,
                    shape<4, 5, 4>>(),
             "conv_transpose2d_groups2_dilation2");
    as_torch(
        run_of<conv_transpose2d<16, 4, conv_transpose{.stride = 2, .padding = 1, .groups = 16}>,
               shape<16, 3, 2>>(),
        "conv_transpose2d_depthwise_4_stride2_pad1");
    static constexpr auto twice = conv_transpose2d<2, 3, conv_transpose{2, cn::same}>.no_bias();
    static_assert(std::is_same_v<cn::symbol<shape<2, 6, 8>>,
                                 decltype(twice(std::declval<cn::symbol<shape<2, 3, 4>>>()))>);
    against_finite_differences<twice, shape<2, 3, 4>>();
}

TEST_CASE("depthwise and separable convolution") {
    using cn::depthwise_conv2d;
    check::against_golden(run_of<depthwise_conv2d<3, conv{.padding = 1}>, shape<8, 7, 6>>(),
                          "conv2d_depthwise");
    check::against_golden(run_of<depthwise_conv2d<3, conv{}, 2>, shape<3, 7, 6>>(),
                          "conv2d_depthwise_multiplier2");
    as_torch(run_of<cn::separable_conv2d<5, 3, conv{.stride = 2, .padding = 1}>, image>(),
             "separable_conv2d");
    static constexpr auto both = cn::separable_conv2d<3, 2>; // nvcc wants it named
    against_finite_differences<both, shape<2, 3, 4>>();
}

TEST_CASE("pooling to a given size") {
    using cn::adaptive_avg_pool2d, cn::adaptive_max_pool2d;
    check::against_golden(run_of<adaptive_avg_pool2d<3>, image>(), "adaptive_avg_pool2d_3x3");
    as_torch(run_of<adaptive_avg_pool2d<size2{5, 3}>, image>(), "adaptive_avg_pool2d_5x3");
    as_torch(run_of<adaptive_avg_pool2d<size2{7, 2}>, image>(), "adaptive_avg_pool2d_7x2");
    as_torch(run_of<adaptive_avg_pool2d<size2{10, 3}>, image>(), "adaptive_avg_pool2d_10x3");
    as_torch(run_of<adaptive_max_pool2d<size2{5, 3}>, image>(), "adaptive_max_pool2d_5x3");
    against_finite_differences<adaptive_avg_pool2d<3>, shape<2, 5, 7>>();
    against_finite_differences<adaptive_max_pool2d<3>, shape<2, 5, 7>>();
}

TEST_CASE("bilinear up-sampling") {
    static constexpr auto twice = cn::upsample2d<2>.bilinear();
    static constexpr auto thrice = cn::upsample2d<3>.bilinear();
    as_torch(run_of<twice, shape<2, 3, 4>>(), "upsample_bilinear_2");
    as_torch(run_of<thrice, shape<2, 3, 4>>(), "upsample_bilinear_3");
    against_finite_differences<twice, shape<2, 1, 3>>();
}

TEST_CASE("borders") {
    static constexpr cn::sides around{1, 2, 3, 0};
    as_torch(run_of<cn::zero_pad2d<around>, image>(), "zero_pad2d_1_2_3_0");
    as_torch(run_of<cn::crop2d<around>, image>(), "crop2d_1_2_3_0");
    as_torch(run_of<cn::reflection_pad2d<around>, image>(), "reflection_pad2d_1_2_3_0");
    as_torch(run_of<cn::replication_pad2d<around>, image>(), "replication_pad2d_1_2_3_0");
    as_torch(run_of<cn::circular_pad2d<around>, image>(), "circular_pad2d_1_2_3_0");
}

TEST_CASE("rectifiers with learned slopes") {
    as_torch(run_of<cn::prelu, image>(), "prelu");
    as_torch(run_of<cn::prelu.per_channel(), image>(), "prelu_per_channel");
    against_finite_differences<cn::prelu.per_channel(), shape<4, 3>>();
    against_finite_differences<cn::prelu, shape<5>>();
}

TEST_CASE("squeeze and excitation") {
    as_torch(run_of<cn::squeeze_excitation<2>, shape<6, 4, 5>>(), "squeeze_excitation");
    as_torch(run_of<cn::squeeze_excitation<2, cn::silu, cn::hard_sigmoid>, shape<6, 4, 5>>(),
             "squeeze_excitation_hard");
    against_finite_differences<cn::squeeze_excitation<2, cn::silu>, shape<3, 2, 2>>();
}

namespace {

// Rows of `pixels` numbers by columns of `channels`, each column dropped or not in a sample.
template <cn::Shape S>
void drops_channels() {
    constexpr std::size_t samples = 200, channels = cn::channels_of<S>;
    auto r = run_of<cn::spatial_dropout<0.25>, S, true, samples>();
    r.set_input(values(samples * S::count, 1));
    r.set_grad_output(values(samples * S::count, 2));
    r.run();
    values const y = r.output();
    auto const channel_of = [](std::size_t i) {
        return cn::is_image<S> ? i / (S::count / channels) : i % channels;
    };
    std::size_t kept = 0;
    for (std::size_t sample = 0; sample < samples; ++sample) {
        double const* const one = y.data() + sample * S::count;
        std::array<double, channels> of_channel{};
        for (std::size_t i = 0; i < S::count; ++i) {
            of_channel[channel_of(i)] = one[i];
        }
        for (std::size_t i = 0; i < S::count; ++i) {
            CHECK(one[i] == of_channel[channel_of(i)]);
            CHECK(r.grad_input()[sample * S::count + i] == 2 * one[i]);
        }
        for (double const x : of_channel) {
            CHECK((x == 0 || x == 1 / 0.75));
            kept += x != 0;
        }
    }
    double const all = samples * channels;
    CHECK(std::fabs(double(kept) - 0.75 * all) < 4 * std::sqrt(all * 0.75 * 0.25));

    auto evaluated = run_of<cn::spatial_dropout<0.25>, S, false, 2>();
    evaluated.set_input(values(2 * S::count, 3));
    evaluated.run();
    CHECK(evaluated.output() == values(2 * S::count, 3));
}

} // namespace

TEST_CASE("spatial dropout leaves out whole channels, in training only") {
    drops_channels<shape<4, 3, 2>>();
    drops_channels<shape<5, 4>>(); // (time, features)
}

TEST_CASE("stochastic depth leaves out whole samples, in training only") {
    constexpr std::size_t samples = 400;
    auto r = run_of<cn::stochastic_depth<0.25F>, shape<3>, true, samples>();
    r.set_input(values(3 * samples, 1));
    r.set_grad_output(values(3 * samples, 2));
    r.run();
    values const y = r.output();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        bool const here = y[3 * i] != 0;
        kept += here;
        for (std::size_t k = 3 * i; k < 3 * i + 3; ++k) {
            CHECK(y[k] == (here ? 1 / 0.75 : 0));
            CHECK(r.grad_input()[k] == 2 * y[k]);
        }
    }
    CHECK(std::fabs(double(kept) - 0.75 * samples) < 35); // four deviations

    auto evaluated = run_of<cn::stochastic_depth<0.25F>, shape<3>, false, 2>();
    evaluated.set_input(values(6, 3));
    evaluated.run();
    CHECK(evaluated.output() == values(6, 3));
}

namespace {

struct join_many { // 18 tensors, of which one is shared by all samples
    constexpr auto operator()(auto a, auto b) const {
        auto const one = cn::channel_index<shape<1, 2, 2>>(*a.g);
        return cn::concat(a, b, a, b, a, b, a, b, one, a, b, a, b, a, b, a, b, b);
    }
};
using many = cn::network<join_many{}, cn::input<1, 2, 2>, cn::input<2, 2, 2>>;

struct iou {
    constexpr auto operator()(auto prediction, auto label) const {
        return cn::mean_iou(prediction, label);
    }
};
using iou_of_pixels = cn::network<iou{}, cn::input<3, 2, 2>, cn::input_ids<3, 2, 2>>;

} // namespace

TEST_CASE("more tensors are joined than an operation has operands") {
    auto r = check::layer_run::of<many, true, 1>();
    r.set_input({1, 2, 3, 4}, 0);
    r.set_input({5, 6, 7, 8, 15, 16, 17, 18}, 1);
    r.set_grad_output(values(27 * 4, 1));
    r.run();
    values const y = r.output();
    CHECK(values(y.begin(), y.begin() + 12) == values{1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 18});
    CHECK(values(y.begin() + 48, y.begin() + 56) == values{0, 0, 0, 0, 1, 2, 3, 4});
    CHECK(values(y.end() - 4, y.end()) == values{15, 16, 17, 18});
    check::against_finite_differences(check::layer_run::of<many, true, 2>());
}

TEST_CASE("mean intersection over union") {
    auto r = check::layer_run::of<iou_of_pixels, false, 1>();
    // classes 0, 1, 1 and a tie of 0 and 1; channel by channel
    r.set_input({3, 0, 0, 1, /**/ 1, 2, 4, 1, /**/ 0, 1, 0, 0}, 0);
    r.set_input({0, 1, 0, 0}, 1);
    r.run();
    CHECK(r.output() == values{1, 1, 0, 3, 2, 0});
    CHECK(cn::mean_iou.result(r.output(), 1) == doctest::Approx((1 / 3. + 1 / 2.) / 2));
    r.set_input({0, -100, -100, 2}, 1);
    r.run();
    CHECK(r.output() == values{1, 0, 0, 1, 0, 1});
    CHECK(cn::mean_iou.result(r.output(), 1) == 0.5);
    CHECK(cn::mean_iou.result(values(6, 0), 1) == 0);
}
