// Inception-v3 (Szegedy et al. 2016) for 299 x 299 colour images and 1000 classes, without the
// auxiliary classifier; 23,834,568 parameters, named and shaped as in torchvision:
// "Conv2d_1a_3x3.conv.weight", …, "fc.bias". Of torchvision's files, the names that begin with
// "AuxLogits." are left out (cn::partial, see partial_load.hpp), and images lie in [-1, 1], as with
// its transform_input.
#pragma once

#include <castnet/nn/dropout.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

// Convolution, batch normalisation and relu.
template <fixed_string Name, size_t Filters, size2 Kernel, size2 Padding = 0, size_t Stride = 1>
constexpr auto conv_relu(Symbol auto x) {
    scope_guard const scope{*x.g, Name.text};
    constexpr auto convolution =
        conv2d<Filters, Kernel, conv{.stride = Stride, .padding = Padding}>.no_bias().init(
            he_normal);
    return x | named<"conv", convolution> | named<"bn", batch_norm.with_epsilon(1e-3)> | relu;
}

inline constexpr auto average = avg_pool2d<3, pooling{1, 1, true}>;
inline constexpr auto halve = max_pool2d<3, pooling{.stride = 2}>;

// The blocks as their authors drew them (figures 5 to 7, and between them those that halve height
// and width). All their numbers of channels are divided by Part.
template <size_t Pooled, size_t Part>
struct inception_a {
    constexpr auto operator()(Symbol auto x) const {
        auto const one = conv_relu<"branch1x1", 64 / Part, 1>(x);
        auto const five =
            conv_relu<"branch5x5_2", 64 / Part, 5, 2>(conv_relu<"branch5x5_1", 48 / Part, 1>(x));
        auto const three = conv_relu<"branch3x3dbl_3", 96 / Part, 3, 1>(
            conv_relu<"branch3x3dbl_2", 96 / Part, 3, 1>(
                conv_relu<"branch3x3dbl_1", 64 / Part, 1>(x)));
        auto const pooled = conv_relu<"branch_pool", Pooled / Part, 1>(x | average);
        return concat(one, five, three, pooled);
    }
};

template <size_t Part>
struct inception_b {
    constexpr auto operator()(Symbol auto x) const {
        auto const three = conv_relu<"branch3x3", 384 / Part, 3, 0, 2>(x);
        auto const twice = conv_relu<"branch3x3dbl_3", 96 / Part, 3, 0, 2>(
            conv_relu<"branch3x3dbl_2", 96 / Part, 3, 1>(
                conv_relu<"branch3x3dbl_1", 64 / Part, 1>(x)));
        return concat(three, twice, x | halve);
    }
};

// Rows and columns of seven pixels.
template <size_t Inner, size_t Part>
struct inception_c {
    static constexpr size2 row{1, 7}, column{7, 1}, beside{0, 3}, above{3, 0};

    constexpr auto operator()(Symbol auto x) const {
        auto const one = conv_relu<"branch1x1", 192 / Part, 1>(x);
        auto const seven = conv_relu<"branch7x7_3", 192 / Part, column, above>(
            conv_relu<"branch7x7_2", Inner / Part, row, beside>(
                conv_relu<"branch7x7_1", Inner / Part, 1>(x)));
        auto const first = conv_relu<"branch7x7dbl_3", Inner / Part, row, beside>(
            conv_relu<"branch7x7dbl_2", Inner / Part, column, above>(
                conv_relu<"branch7x7dbl_1", Inner / Part, 1>(x)));
        auto const twice = conv_relu<"branch7x7dbl_5", 192 / Part, row, beside>(
            conv_relu<"branch7x7dbl_4", Inner / Part, column, above>(first));
        auto const pooled = conv_relu<"branch_pool", 192 / Part, 1>(x | average);
        return concat(one, seven, twice, pooled);
    }
};

template <size_t Part>
struct inception_d {
    constexpr auto operator()(Symbol auto x) const {
        auto const three = conv_relu<"branch3x3_2", 320 / Part, 3, 0, 2>(
            conv_relu<"branch3x3_1", 192 / Part, 1>(x));
        auto const seven = conv_relu<"branch7x7x3_3", 192 / Part, size2{7, 1}, size2{3, 0}>(
            conv_relu<"branch7x7x3_2", 192 / Part, size2{1, 7}, size2{0, 3}>(
                conv_relu<"branch7x7x3_1", 192 / Part, 1>(x)));
        auto const both = conv_relu<"branch7x7x3_4", 192 / Part, 3, 0, 2>(seven);
        return concat(three, both, x | halve);
    }
};

// Rows and columns of three pixels, side by side.
template <size_t Part>
struct inception_e {
    static constexpr size2 row{1, 3}, column{3, 1}, beside{0, 1}, above{1, 0};

    constexpr auto operator()(Symbol auto x) const {
        auto const one = conv_relu<"branch1x1", 320 / Part, 1>(x);
        auto const three = conv_relu<"branch3x3_1", 384 / Part, 1>(x);
        auto const three_rows = conv_relu<"branch3x3_2a", 384 / Part, row, beside>(three);
        auto const three_columns = conv_relu<"branch3x3_2b", 384 / Part, column, above>(three);
        auto const twice = conv_relu<"branch3x3dbl_2", 384 / Part, 3, 1>(
            conv_relu<"branch3x3dbl_1", 448 / Part, 1>(x));
        auto const twice_rows = conv_relu<"branch3x3dbl_3a", 384 / Part, row, beside>(twice);
        auto const twice_columns = conv_relu<"branch3x3dbl_3b", 384 / Part, column, above>(twice);
        auto const pooled = conv_relu<"branch_pool", 192 / Part, 1>(x | average);
        return concat(one, three_rows, three_columns, twice_rows, twice_columns, pooled);
    }
};

template <size_t Classes, float Dropout, size_t Part>
struct inception {
    constexpr auto operator()(Symbol auto image) const {
        auto const whole =
            conv_relu<"Conv2d_2b_3x3", 64 / Part, 3, 1>(conv_relu<"Conv2d_2a_3x3", 32 / Part, 3>(
                conv_relu<"Conv2d_1a_3x3", 32 / Part, 3, 0, 2>(image)));
        auto const stem = conv_relu<"Conv2d_4a_3x3", 192 / Part, 3>(
            conv_relu<"Conv2d_3b_1x1", 80 / Part, 1>(whole | halve));
        return stem | halve |                                //
               named<"Mixed_5b", inception_a<32, Part>{}> |  //
               named<"Mixed_5c", inception_a<64, Part>{}> |  //
               named<"Mixed_5d", inception_a<64, Part>{}> |  //
               named<"Mixed_6a", inception_b<Part>{}> |      //
               named<"Mixed_6b", inception_c<128, Part>{}> | //
               named<"Mixed_6c", inception_c<160, Part>{}> | //
               named<"Mixed_6d", inception_c<160, Part>{}> | //
               named<"Mixed_6e", inception_c<192, Part>{}> | //
               named<"Mixed_7a", inception_d<Part>{}> |      //
               named<"Mixed_7b", inception_e<Part>{}> |      //
               named<"Mixed_7c", inception_e<Part>{}> |      //
               global_avg_pool2d | dropout<Dropout> | named<"fc", dense<Classes>>;
    }
};

} // namespace detail

// For other classes and images, of at least 75 x 75: inception_v3_of<input<3, 96, 96>, 20>.
template <auto Input, size_t Classes, float Dropout = 0.5F>
struct inception_v3_of : network<detail::inception<Classes, Dropout, 1>{}, Input> {};

using inception_v3 = inception_v3_of<input<3, 299, 299>, 1000>;

} // namespace castnet::zoo
