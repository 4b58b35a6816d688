// The dense layers and convolutions of the benchmarked networks, one by one: each is benchmarked as
// the three operations of training. `matmul` and `conv` compute its output, `…_data` the gradient
// by its input, `…_weight` the one by its weight.
#pragma once

namespace bench {

struct dense {
    static constexpr int samples = 128;
    char const* name;
    int features, units;

    constexpr double flops() const { return 2.0 * samples * features * units; }
};
constexpr dense dense_layers[] = {
    {"convnet/1", 576, 64},   {"convnet/2", 64, 10},    {"dropout_cnn/1", 9216, 128},
    {"wide_mlp/1", 784, 512}, {"wide_mlp/2", 512, 512}, {"wide_mlp/3", 512, 10},
    {"tiny_mlp/1", 13, 16},   {"tiny_mlp/2", 16, 32},   {"tiny_mlp/3", 32, 1}};

// 3x3 on square images, without padding or with as much as keeps the size, stride 1.
struct convolution {
    static constexpr int samples = 32;
    char const* name;
    int channels, size, filters, pad;

    constexpr int out() const { return size + 2 * pad - 2; }
};
constexpr convolution convolutions[] = {{"convnet/1", 1, 28, 32, 0},  {"convnet/2", 32, 13, 64, 0},
                                        {"convnet/3", 64, 5, 64, 0},  {"vgg", 64, 56, 64, 1},
                                        {"vgg/128", 128, 56, 128, 1}, {"vgg/512", 512, 14, 512, 1}};

} // namespace bench
