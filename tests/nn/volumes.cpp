// Layers of volumes (channels, depth, height, width), against PyTorch and finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/adaptive_pooling3d.hpp>
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/conv3d.hpp>
#include <castnet/nn/conv_transpose3d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling3d.hpp>
#include <castnet/nn/squeeze_excitation.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::layer_of, check::layer_run;
using cn::conv3, cn::conv3d, cn::conv_transpose3, cn::conv_transpose3d, cn::padding3, cn::pooling3,
    cn::sequential, cn::shape, cn::size3;

namespace {

constexpr auto volume = cn::input<2, 4, 5, 3>;

// The golden case of a layer over this volume. (nvcc 13.0 takes none as an argument of a function
// or alias template.)
template <class Network>
void golden(std::string const& name) {
    check::against_golden(layer_run::of<Network, true, 4>(), name, 1e-12, "volumes");
}

// Against direct sums: a convolution with this stride and dilation along the depth, whose unfolded
// slices do not all fit a cache.
template <std::size_t Channels, std::size_t Depth, std::size_t Height, std::size_t Width,
          std::size_t Filters, std::size_t Stride = 1, std::size_t Dilation = 1>
layer_run large_volume() {
    constexpr conv3 options{.stride = size3{Stride, 1, 1},
                            .padding = size3{2, 1, 1},
                            .dilation = size3{Dilation, 1, 1}};
    constexpr std::size_t out_depth = (Depth + 3 - 2 * Dilation) / Stride + 1, samples = 2;
    auto r = layer_of<conv3d<Filters, 3, options>, shape<Channels, Depth, Height, Width>, true,
                      samples>::make();
    check::values const x = check::random_values(samples * Channels * Depth * Height * Width, 1),
                        weight = check::random_values(Filters * Channels * 27, 2),
                        bias = check::random_values(Filters, 3);
    r.set_input(x);
    r.set("0.weight", weight);
    r.set("0.bias", bias);
    r.run();
    check::values expected;
    for (std::size_t i = 0; i < samples * Filters * out_depth * Height * Width; ++i) {
        std::size_t const column = i % Width, row = i / Width % Height,
                          slice = i / Width / Height % out_depth,
                          filter = i / Width / Height / out_depth % Filters,
                          sample = i / Width / Height / out_depth / Filters;
        double sum = bias[filter];
        for (std::size_t k = 0; k < Channels * 27; ++k) {
            // before the padding is taken off; what lies outside wraps around
            std::size_t const z = slice * Stride + k / 9 % 3 * Dilation - 2,
                              y = row + k / 3 % 3 - 1, at = column + k % 3 - 1, channel = k / 27;
            if (z < Depth && y < Height && at < Width) {
                sum += weight[filter * Channels * 27 + k] *
                       x[(((sample * Channels + channel) * Depth + z) * Height + y) * Width + at];
            }
        }
        expected.push_back(sum);
    }
    check::close("output", r.output(), expected, 1e-11);
    return r;
}

static_assert(sequential<volume, conv3d<5, size3{1, 2, 3}>>::parameter_count ==
              5 * 2 * 1 * 2 * 3 + 5);
static_assert(sequential<volume, conv3d<5, 3, conv3{.groups = 1}>.no_bias()>::parameter_count ==
              5 * 2 * 27);
static_assert(sequential<volume, cn::batch_norm>::parameter_count == 2 * 2);

} // namespace

TEST_CASE("conv3d") {
    golden<sequential<volume, conv3d<4, 2>>>("conv3d_2");
    golden<sequential<volume, conv3d<3, 3, conv3{.padding = cn::same}>>>("conv3d_same_3");
    golden<sequential<volume, conv3d<3, 3, conv3{.stride = 2, .padding = 1}>>>(
        "conv3d_stride2_pad1");
    golden<
        sequential<volume, conv3d<3, size3{3, 1, 2},
                                  conv3{.stride = size3{2, 1, 3}, .padding = padding3{2, 0, 1}}>>>(
        "conv3d_kernel312_stride213_pad201");
    golden<sequential<volume, conv3d<2, size3{2, 3, 2}, conv3{.padding = 2, .dilation = 2}>>>(
        "conv3d_dilation2_pad2");
    golden<sequential<volume, conv3d<3, size3{2, 3, 2},
                                     conv3{.stride = size3{1, 1, 2},
                                           .padding = padding3{2, 0, 1},
                                           .dilation = size3{2, 1, 3}}>>>(
        "conv3d_dilation213_pad201");
    golden<sequential<volume, conv3d<2, size3{3, 3, 2}, conv3{.dilation = size3{1, 2, 1}}>>>(
        "conv3d_dilation121");
    golden<sequential<volume, conv3d<4, size3{2, 3, 1}, conv3{.groups = 2}>>>("conv3d_groups2");
    golden<sequential<volume, conv3d<2, 3, conv3{.padding = 1, .groups = 2}>>>("conv3d_depthwise");
    golden<sequential<volume, conv3d<4, size3{1, 3, 3}, conv3{.padding = size3{0, 1, 1}}>>>(
        "conv3d_kernel133");
    golden<sequential<volume, conv3d<4, size3{3, 1, 1}>>>("conv3d_kernel311");
}

TEST_CASE("convolutions of large volumes") {
    against_finite_differences(large_volume<6, 7, 23, 20, 3>(), 1e-6); // several slices, a rest
    large_volume<13, 3, 30, 31, 14>();                                 // each by itself
    large_volume<16, 7, 20, 19, 5, 2, 2>(); // some that another one reads
}

TEST_CASE("a convolution of columns is one of slices whose other weights are 0") {
    using image = shape<6, 7, 3, 5>;
    constexpr conv3 columns{.stride = size3{2, 1, 1},
                            .padding = size3{2, 0, 0},
                            .dilation = size3{2, 1, 1},
                            .groups = 2};
    constexpr conv3 around{.stride = size3{2, 1, 1},
                           .padding = size3{2, 1, 1},
                           .dilation = size3{2, 1, 1},
                           .groups = 2};
    auto one = layer_of<conv3d<4, size3{3, 1, 1}, columns>, image, true, 2>::make(),
         other = layer_of<conv3d<4, 3, around>, image, true, 2>::make();
    check::values const x = check::random_values(2 * image::count, 1),
                        bias = check::random_values(4, 2), weight = check::random_values(36, 3);
    check::values surrounded(36 * 9, 0);
    for (std::size_t i = 0; i < 36; ++i) {
        surrounded[9 * i + 4] = weight[i];
    }
    for (auto* const each : {&one, &other}) {
        each->set_input(x);
        each->set("0.bias", bias);
        each->set_grad_output(check::random_values(each->grad_output().size(), 4));
    }
    one.set("0.weight", weight);
    other.set("0.weight", surrounded);
    one.run();
    other.run();
    check::close("output", one.output(), other.output(), 1e-13);
    check::close("grad_input", one.grad_input(), other.grad_input(), 1e-13);
    check::values of_columns;
    for (std::size_t i = 0; i < 36; ++i) {
        of_columns.push_back(other.gradient("0.weight")[9 * i + 4]);
    }
    check::close("grad_weight", one.gradient("0.weight"), of_columns, 1e-13);
}

TEST_CASE("conv_transpose3d") {
    golden<sequential<volume, conv_transpose3d<3, 2, conv_transpose3{.stride = 2}>>>(
        "conv_transpose3d_2_stride2");
    golden<sequential<volume, conv_transpose3d<2, size3{3, 1, 2},
                                               conv_transpose3{.stride = size3{2, 1, 3},
                                                               .padding = size3{1, 0, 1},
                                                               .output_padding = size3{0, 0, 1}}>>>(
        "conv_transpose3d_kernel312_stride213_pad101_more001");
    golden<sequential<volume, conv_transpose3d<4, 2, conv_transpose3{.dilation = 2, .groups = 2}>>>(
        "conv_transpose3d_groups2_dilation2");
    golden<sequential<volume, conv_transpose3d<3, size3{2, 2, 3},
                                               conv_transpose3{.stride = size3{2, 1, 2},
                                                               .padding = padding3{0, 1, 0},
                                                               .dilation = size3{1, 3, 2}}>>>(
        "conv_transpose3d_dilation132_stride212");
    golden<sequential<volume, conv_transpose3d<2, size3{1, 2, 2}>>>("conv_transpose3d_kernel122");
}

TEST_CASE("pooling and up-sampling of volumes") {
    constexpr padding3 around{1, 0, 1};
    constexpr size3 kernel{3, 2, 3}, stride{2, 1, 1};
    golden<sequential<volume, cn::max_pool3d<2>>>("max_pool3d_2");
    golden<
        sequential<volume, cn::max_pool3d<kernel, pooling3{.stride = stride, .padding = around}>>>(
        "max_pool3d_kernel323_stride211_pad101");
    golden<sequential<volume, cn::max_pool3d<size3{1, 2, 2}>>>("max_pool3d_kernel122");
    golden<sequential<volume, cn::avg_pool3d<size3{2, 1, 1}>>>("avg_pool3d_kernel211");
    golden<sequential<volume, cn::avg_pool3d<2>>>("avg_pool3d_2");
    golden<
        sequential<volume, cn::avg_pool3d<kernel, pooling3{.stride = stride, .padding = around}>>>(
        "avg_pool3d_kernel323_stride211_pad101");
    golden<sequential<volume, cn::avg_pool3d<3, pooling3{.padding = 1, .count_padding = true}>>>(
        "avg_pool3d_3_pad1_counted");
    golden<sequential<volume, cn::global_avg_pool3d>>("global_avg_pool3d");
    golden<sequential<volume, cn::global_max_pool3d>>("global_max_pool3d");
    golden<sequential<volume, cn::adaptive_avg_pool3d<size3{2, 3, 2}>>>("adaptive_avg_pool3d_232");
    golden<sequential<volume, cn::adaptive_avg_pool3d<3>>>("adaptive_avg_pool3d_3");
    golden<sequential<volume, cn::adaptive_avg_pool3d<size3{6, 6, 5}>>>(
        "adaptive_avg_pool3d_up_665");
    golden<sequential<volume, cn::adaptive_max_pool3d<size3{2, 3, 2}>>>("adaptive_max_pool3d_232");
    golden<sequential<volume, cn::adaptive_max_pool3d<size3{1, 5, 2}>>>("adaptive_max_pool3d_152");
    golden<sequential<volume, cn::upsample3d<2>>>("upsample3d_2");
    golden<sequential<volume, cn::upsample3d<2>.trilinear()>>("upsample3d_trilinear_2");
}

TEST_CASE("squeeze and excitation of volumes") {
    golden<sequential<volume, cn::squeeze_excitation<3>>>("squeeze_excitation");
}

TEST_CASE("the gradients of convolutions over volumes") {
    using image = shape<9, 2, 3, 2>; // channels of several vectors, and some more
    against_finite_differences(
        layer_of<conv3d<5, 3, conv3{.padding = cn::same}>, image, true, 2>::make());
    against_finite_differences(layer_of<conv3d<4, 2, conv3{.stride = 2, .padding = cn::same}>,
                                        shape<1, 5, 3, 4>, true, 3>::make());
    against_finite_differences(
        layer_of<conv_transpose3d<4, 3, conv_transpose3{.stride = 2, .padding = cn::same}>,
                 shape<3, 2, 1, 2>, true, 2>::make());
}

TEST_CASE("a network of volumes") {
    constexpr auto down = cn::block<conv3d<8, 3, conv3{.padding = cn::same}>, cn::batch_norm,
                                    cn::relu, cn::max_pool3d<2>>;
    constexpr auto up = cn::block<conv_transpose3d<4, 2, conv_transpose3{.stride = 2}>, cn::relu,
                                  cn::flatten, cn::dense<3>>;
    against_finite_differences(layer_of<cn::block<down, up>, shape<1, 4, 6, 4>, true, 3>::make());
}

TEST_CASE("flattened volumes are in logical order") {
    using net = cn::sequential<cn::input<2, 2, 3, 2>, conv3d<2, 1>.no_bias(), cn::flatten,
                               cn::dense<24>.no_bias()>;
    check::values one(24 * 24), x;
    for (std::size_t i = 0; i < 24; ++i) {
        one[i * 25] = 1;
        x.push_back(double(i));
    }
    layer_run r = layer_run::of<net, false, 1>();
    r.set("0.weight", {1, 0, 0, 1});
    r.set("2.weight", one);
    r.set_input(x);
    r.run();
    CHECK(r.output() == x);
}
