// Siamese network on two devices: decides whether two pictures show the same kind of clothes. One
// encoder is applied to both at the same time, to each on its own device; the first device compares
// the codes. (Keras: a shared layer under tf.device('/gpu:0') and tf.device('/gpu:1').)
//
//   two_device_siamese [FOLDER OF THE DATA [PAIRS PER EPOCH]]
#include <castnet/castnet.hpp>
#include <castnet/policy/model_parallel.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace cn = castnet;

struct siamese {
    static constexpr auto encoder =
        cn::shared<"encoder",
                   cn::block<cn::conv2d<16, 3>, cn::relu, cn::max_pool2d<2>, cn::conv2d<32, 3>,
                             cn::relu, cn::max_pool2d<2>, cn::flatten, cn::dense<64>>>;

    constexpr auto operator()(auto left, auto right) const {
        auto const a = left | cn::on<0, encoder>;
        auto const b = right | cn::on<1, encoder>;
        return cn::square(a - b) | cn::dense<32> | cn::relu | cn::dense<1>; // on device 0
    }
};
using network = cn::network<siamese{}, cn::input<1, 28, 28>, cn::input<1, 28, 28>>;

using where = cn::policy::model_parallel<cn::policy::cpu, 2>; // policy::cpu takes the same steps

// A custom data set: pairs of pictures, every other pair of the same kind.
class pairs {
public:
    using target_type = cn::shape<1>;
    template <std::size_t>
    using input_shape = cn::shape<1, 28, 28>;
    static constexpr std::size_t input_count = 2;

    pairs(cn::data::mnist_dataset pictures, std::size_t count, unsigned seed)
        : pictures_{std::move(pictures)} {
        std::array<std::vector<std::size_t>, 10> of_kind;
        for (std::size_t i = 0; i < pictures_.size(); ++i) {
            of_kind[kind(i)].push_back(i);
        }
        std::mt19937 random{seed};
        auto const below = [&](std::size_t n) { return random() % n; };
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const left = below(pictures_.size());
            std::size_t const other = i % 2 == 0 ? kind(left) : (kind(left) + 1 + below(9)) % 10;
            pairs_.push_back({left, of_kind[other][below(of_kind[other].size())]});
        }
    }

    std::size_t size() const { return pairs_.size(); }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        pictures_.copy_input(pairs_[sample][I], out);
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const { // 1: the same kind
        *out = sample % 2 == 0 ? T(1) : T(0);
    }

private:
    std::size_t kind(std::size_t picture) const {
        float label = 0;
        pictures_.copy_target(picture, &label);
        return std::size_t(label);
    }

    cn::data::mnist_dataset pictures_;
    std::vector<std::array<std::size_t, 2>> pairs_;
};

int main(int count, char** arguments) try {
    auto const clothes =
        cn::data::fashion_mnist(count > 1 ? arguments[1] : "/usr/share/datasets/fashion-mnist");
    std::size_t const per_epoch = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 30000;
    pairs const train{clothes.train, per_epoch, 1}, test{clothes.test, 5000, 2};

    cn::model<network, where, cn::batch<128>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::binary_cross_entropy, cn::adam{}, cn::binary_accuracy);
    std::fputs(cn::memory_report(training).c_str(), stdout);

    training.fit(train, {.epochs = 3, .schedule = cn::one_cycle(4e-3), .validation = test});
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
