// A convolutional network on Fashion-MNIST, step by step against PyTorch.
#include <castnet/castnet.hpp>
#include <castnet/io/file.hpp>

#include "../golden.hpp"

#include <numeric>

namespace cn = castnet;
using check::values;

using convnet = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, cn::conv2d<64, 3>,
                               cn::relu, cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
static_assert(convnet::parameter_count == 93'322);

namespace {

check::golden_file const& golden() {
    static check::golden_file const file{"convnet"};
    return file;
}

// The samples of the first 50 steps. The pixels are divided by 255, not multiplied with its
// inverse: the last bit counts here.
cn::data::mnist_dataset const& samples() {
    static auto const divided = [] {
        auto const train = cn::data::fashion_mnist().train.take(50 * 128);
        std::vector<float> pixels(train.size() * 784);
        std::vector<int> labels(train.size());
        for (std::size_t i = 0; i < train.size(); ++i) {
            float* const image = pixels.data() + i * 784;
            train.copy_input(i, image);
            for (std::size_t k = 0; k < 784; ++k) {
                image[k] = std::round(image[k] * 255) / 255;
            }
            train.copy_target(i, &labels[i]);
        }
        return cn::data::mnist_dataset{std::move(pixels), labels};
    }();
    return divided;
}

// The losses of the first steps, on the samples in the order of the file.
template <class T, class Optimizer>
values losses(Optimizer const& optimizer, std::size_t steps) {
    cn::model<convnet, cn::policy::basic_cpu<T>, cn::batch<128>> model;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        std::string const name = model.parameter_at(i).name.text();
        values const w = golden()[name];
        model.set(name, std::vector<T>(w.begin(), w.end()));
    }
    auto training = cn::compile(model, cn::cross_entropy, optimizer);
    std::vector<std::size_t> batch(128);
    values found;
    for (std::size_t step = 0; step < steps; ++step) {
        std::iota(batch.begin(), batch.end(), step * batch.size());
        found.push_back(training.step(samples(), batch).loss());
    }
    return found;
}

values first(values x, std::size_t count) {
    x.resize(count);
    return x;
}

// Without zlib, or without the data set, there is nothing to train on.
bool const have_data = [] {
    std::string const file = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte";
#ifdef CASTNET_HAS_ZLIB
    return cn::io::exists(file) || cn::io::exists(file + ".gz");
#else
    return cn::io::exists(file);
#endif
}();

} // namespace

TEST_CASE("adam in float" * doctest::skip(!have_data)) {
    values const found = losses<float>(cn::adam{}, 50), expected = golden()["losses/adam"];
    check::close("30 steps", first(found, 30), first(expected, 30), 5e-6);
    check::close("50 steps", found, expected, 2e-4);
}

TEST_CASE("momentum in float" * doctest::skip(!have_data)) {
    values const found = losses<float>(cn::momentum{.learning_rate = 0.05}, 20);
    values const expected = first(golden()["losses/sgd"], 20); // later ones are chaotic
    check::close("14 steps", first(found, 14), first(expected, 14), 5e-6);
    check::close("20 steps", found, expected, 1e-3);
}

TEST_CASE("adam and momentum in double" * doctest::skip(!have_data)) {
    values const adam = losses<double>(cn::adam{}, 50),
                 momentum = losses<double>(cn::momentum{.learning_rate = 0.05}, 50);
    check::close("adam", adam, golden()["losses64/adam"], 1e-11);
    check::close("momentum", momentum, golden()["losses64/sgd"], 1e-11);
}
