// The program of the README. It is compiled here, and not run: examples/quickstart.cpp is the
// program to run.
#include <castnet/castnet.hpp>

#pragma GCC diagnostic ignored "-Wreturn-type" // only a program's main may end without return

namespace first_screen {

// clang-format off
// [program]
#include <castnet/castnet.hpp>
namespace cn = castnet;

using zalando = cn::sequential<                        // a network is a type
    cn::input<1, 28, 28>,                              // one sample: channels, height, width
    cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu,
    cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;

static_assert(zalando::parameter_count == 93'322);     // known before the program runs

int main() {
    auto data = cn::data::fashion_mnist("/usr/share/datasets/fashion-mnist");
    cn::model<zalando, cn::policy::cpu, cn::batch<128>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data.train, {.epochs = 5, .schedule = cn::one_cycle(4e-3), .validation = data.test});
    cn::save(model, "zalando.safetensors");
}
// [/program]
// clang-format on

} // namespace first_screen
