// One LSTM for two sequences, each on a device of its own: decides whether two pieces of 140
// characters are of the same kind: licences, C++ or Perl. The first device compares what the LSTM
// has read. (Keras: a shared layer under tf.device('/gpu:0') and tf.device('/gpu:1').)
//
// After 4 epochs, about a minute on two cores, 93 % of the pairs of the validation are told right.
//
//   two_device_lstm [PAIRS PER EPOCH]
//
// The texts are those of /usr/share/common-licenses, of g++'s headers and of the package perl-base,
// which every Debian with a compiler has.
#include <castnet/castnet.hpp>
#ifdef __CUDACC__
#include <castnet/cuda.hpp>
#endif
#include <castnet/policy/model_parallel.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace cn = castnet;

constexpr std::size_t steps = 140, alphabet = 256;

struct same_kind {
    static constexpr auto reader = cn::shared<"reader", cn::lstm<64>>;

    constexpr auto operator()(auto left, auto right) const {
        auto const a = left | cn::on<0, reader>;
        auto const b = right | cn::on<1, reader>;
        return cn::concat(a, b) | cn::dense<64> | cn::relu | cn::dense<1>; // on device 0
    }
};
using network = cn::network<same_kind{}, cn::input<steps, alphabet>, cn::input<steps, alphabet>>;

#ifdef __CUDACC__
using where = cn::policy::model_parallel<cn::policy::cuda, 2>; // the first two GPUs
#else
using where = cn::policy::model_parallel<cn::policy::cpu, 2>; // policy::cpu takes the same steps
#endif

// The texts of a kind; every tenth file is for validation.
struct texts {
    std::string train, test;
};
texts read_all(std::string const& folder) {
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && !entry.is_symlink()) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    texts all;
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::ifstream in{files[i], std::ios::binary};
        (i % 10 == 9 ? all.test : all.train)
            .append(std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{});
    }
    if (all.train.size() <= steps || all.test.size() <= steps) {
        throw cn::error({"two_device_lstm: there are too few files in ", folder});
    }
    return all;
}

// The folder of perl-base, whose name has that of the processor.
std::string perl_folder() {
    for (auto const& entry : std::filesystem::directory_iterator("/usr/lib")) {
        if (std::filesystem::is_directory(entry.path() / "perl-base")) {
            return entry.path() / "perl-base";
        }
    }
    throw cn::error("two_device_lstm: there is no folder perl-base in those of /usr/lib");
}

// A custom data set: pairs of pieces, every other pair of the same kind. Characters are one-hot.
class pairs {
public:
    using target_type = cn::shape<1>;
    template <std::size_t>
    using input_shape = cn::shape<steps, alphabet>;
    static constexpr std::size_t input_count = 2;

    pairs(std::array<std::string, 3> of_kind, std::size_t count, unsigned seed)
        : of_kind_{std::move(of_kind)} {
        std::mt19937 random{seed};
        auto const piece = [&](std::size_t kind) {
            return place{kind, random() % (of_kind_[kind].size() - steps)};
        };
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const left = random() % 3;
            pairs_.push_back(
                {piece(left), piece(i % 2 == 0 ? left : (left + 1 + random() % 2) % 3)});
        }
    }

    std::size_t size() const { return pairs_.size(); }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        place const from = pairs_[sample][I];
        std::fill_n(out, steps * alphabet, T(0));
        for (std::size_t i = 0; i < steps; ++i) {
            out[i * alphabet + static_cast<unsigned char>(of_kind_[from.kind][from.first + i])] = 1;
        }
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const { // 1: the same kind
        *out = sample % 2 == 0 ? T(1) : T(0);
    }

private:
    struct place {
        std::size_t kind, first;
    };
    std::array<std::string, 3> of_kind_;
    std::vector<std::array<place, 2>> pairs_;
};

int main(int count, char** values) try {
    auto const licences = read_all("/usr/share/common-licenses"),
               code = read_all("/usr/include/c++"), scripts = read_all(perl_folder());
    std::size_t const per_epoch = count > 1 ? std::strtoul(values[1], nullptr, 10) : 20000;
    pairs const train{{licences.train, code.train, scripts.train}, per_epoch, 1},
        test{{licences.test, code.test, scripts.test}, 2000, 2};

    cn::model<network, where, cn::batch<32>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::binary_cross_entropy, cn::clip_norm(cn::adam{}, 1),
                                cn::binary_accuracy);
    training.fit(train, {.epochs = 4, .schedule = cn::one_cycle(4e-3), .validation = test});
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
