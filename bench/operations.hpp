// The dense layers and convolutions of the benchmarked networks, and large dense layers of few
// samples, one by one: each is benchmarked as the three operations of training. `matmul` and `conv`
// compute its output, `…_data` the gradient with respect to its input, `…_weight` the one with
// respect to its weight.
#pragma once

namespace bench {

struct dense {
    char const* name;
    int features, units;
    int samples = 128;

    constexpr double flops() const { return 2.0 * samples * features * units; }
};
constexpr dense dense_layers[] = {
    {"convnet/1", 576, 64},       {"convnet/2", 64, 10},        {"dropout_cnn/1", 9216, 128},
    {"wide_mlp/1", 784, 512},     {"wide_mlp/2", 512, 512},     {"wide_mlp/3", 512, 10},
    {"tiny_mlp/1", 13, 16},       {"tiny_mlp/2", 16, 32},       {"tiny_mlp/3", 32, 1},
    {"few/1", 784, 512, 1},       {"few/2", 784, 512, 2},       {"few/4", 784, 512, 4},
    {"few/8", 784, 512, 8},       {"large/1", 1024, 4096, 1},   {"large/4", 1024, 4096, 4},
    {"large/12", 1024, 4096, 12}, {"large/16", 1024, 4096, 16}, {"large/32", 1024, 4096, 32}};

// On square images, without padding or with as much as keeps the size where the stride is 1.
struct convolution {
    static constexpr int samples = 32;
    char const* name;
    int channels, size, filters, pad;
    int kernel = 3, stride = 1, groups = 1;

    constexpr int out() const { return (size + 2 * pad - kernel) / stride + 1; }
};
constexpr convolution convolutions[] = {{"convnet/1", 1, 28, 32, 0},  {"convnet/2", 32, 13, 64, 0},
                                        {"convnet/3", 64, 5, 64, 0},  {"vgg", 64, 56, 64, 1},
                                        {"vgg/128", 128, 56, 128, 1}, {"vgg/512", 512, 14, 512, 1}};

// Depthwise convolutions of MobileNetV2 and EfficientNet-B0, and one in groups of ResNeXt-50.
constexpr convolution grouped_convolutions[] = {
    {"mobilenetv2/1", 32, 112, 32, 1, 3, 1, 32},     {"mobilenetv2/2", 96, 112, 96, 1, 3, 2, 96},
    {"mobilenetv2/3", 144, 56, 144, 1, 3, 1, 144},   {"mobilenetv2/4", 144, 56, 144, 1, 3, 2, 144},
    {"mobilenetv2/8", 384, 14, 384, 1, 3, 1, 384},   {"mobilenetv2/14", 576, 14, 576, 1, 3, 2, 576},
    {"mobilenetv2/15", 960, 7, 960, 1, 3, 1, 960},   {"efficientnet/5", 240, 28, 240, 2, 5, 1, 240},
    {"efficientnet/12", 672, 14, 672, 2, 5, 2, 672}, {"resnext/1", 128, 56, 128, 1, 3, 1, 32},
    {"resnext/2", 256, 28, 256, 1, 3, 1, 32},        {"resnext/3", 512, 14, 512, 1, 3, 1, 32}};

} // namespace bench
