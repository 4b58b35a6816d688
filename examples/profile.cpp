// Profiles a training step of the quickstart's network on random images.
//
//   profile [samples per step, at most 512]
#include <castnet/castnet.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>

namespace cn = castnet;

// clang-format off
using zalando = cn::sequential<
    cn::input<1, 28, 28>,
    cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu,
    cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
// clang-format on

int main(int count, char** values) try {
    std::size_t const samples = count > 1 ? std::strtoul(values[1], nullptr, 10) : 128;
    std::vector<std::uint8_t> pixels(std::size_t{512} * 784);
    std::vector<int> labels(512);
    for (std::uint32_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = static_cast<std::uint8_t>(cn::philox({i, 0, 0, 0}, {1, 2}).x0 >> 24);
    }
    cn::data::mnist_dataset const data{{std::move(pixels), 1.0F / 255}, labels};
    std::vector<std::size_t> batch(samples);
    std::iota(batch.begin(), batch.end(), std::size_t{0});

    cn::model<zalando, cn::policy::cpu, cn::batch<512>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    std::printf("%s", cn::profile_table(cn::profile(training, data, batch, 20)).c_str());
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
