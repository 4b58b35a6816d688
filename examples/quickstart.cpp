// Trains a convolutional network on Fashion-MNIST.
//
//   quickstart [--data FOLDER] [--seed N] [--epochs N] [--weights FILE] [--history FILE]
#include <castnet/castnet.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace cn = castnet;

// clang-format off
using zalando = cn::sequential<                        // a network is a type
    cn::input<1, 28, 28>,                              // one sample: channels, height, width
    cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu,
    cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
// clang-format on

static_assert(zalando::parameter_count == 93'322); // known before the program runs

using where = cn::policy::cpu;

struct arguments {
    char const* data = "/usr/share/datasets/fashion-mnist";
    char const* weights = "zalando.safetensors";
    char const* history = "history.csv";
    unsigned long seed = 42;
    int epochs = 5;
};

arguments parse(int count, char** values) {
    arguments a;
    for (int i = 1; i < count; i += 2) {
        std::string_view const name = values[i];
        if (i + 1 == count) {
            throw cn::error({"quickstart: ", name, " needs a value"});
        }
        char const* const value = values[i + 1];
        if (name == "--data") {
            a.data = value;
        } else if (name == "--seed") {
            a.seed = std::strtoul(value, nullptr, 10);
        } else if (name == "--epochs") {
            a.epochs = std::atoi(value);
        } else if (name == "--weights") {
            a.weights = value;
        } else if (name == "--history") {
            a.history = value;
        } else {
            throw cn::error({"quickstart: unknown option ", name,
                             "; there are --data, --seed, --epochs, --weights, --history"});
        }
    }
    return a;
}

int main(int count, char** values) try {
    arguments const a = parse(count, values);
    auto const data = cn::data::fashion_mnist(a.data);

    cn::model<zalando, where, cn::batch<128>> model{cn::seed{a.seed}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    std::printf("%s%s\n", cn::summary(model).c_str(), cn::memory_report(training).c_str());

    auto const history = training.fit(
        data.train, {.epochs = a.epochs, .schedule = cn::one_cycle(4e-3), .validation = data.test});

    double seconds = 0;
    for (double s : history["seconds"]) {
        seconds += s;
    }
    std::printf("\ntest accuracy %.4f, %.0f images/s, %.1f s of training\n",
                training.evaluate(data.test)["accuracy"],
                double(data.train.size()) * double(history.epochs()) / seconds, seconds);
    cn::save(model, a.weights);
    history.save_csv(a.history);
    std::printf("wrote %s and %s\n", a.weights, a.history);
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
