// A small GPT that writes like a licence, character by character: three blocks of a transformer
// see the 64 characters before each one. (Keras: TransformerDecoder with
// TokenAndPositionEmbedding; PyTorch: nanoGPT.)
//
// The last tenth of each text validates: after 8 epochs, less than two minutes on two cores, the
// most likely character is the right one for 60 % (perplexity 5.2).
//
//   character_gpt [FILES]
//
// The files are some of /usr/share/common-licenses unless told, which every Debian has.
#include <castnet/castnet.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace cn = castnet;

constexpr std::size_t vocabulary = 96, steps = 64; // printable ASCII and the line's end

constexpr cn::transformer options{
    .feed_forward = 384, .dropout = 0.1, .norm_first = true, .causal = true};
inline constexpr auto block = cn::transformer_encoder_layer<4, options, cn::gelu>;
using network = cn::sequential<cn::input_ids<vocabulary, steps>, cn::embedding<vocabulary, 96>,
                               cn::learned_positions, block, block, block, cn::layer_norm,
                               cn::dense<vocabulary>>;

int id_of(char c) {
    return c == '\n' ? 0 : c >= ' ' && c <= '~' ? c - ' ' + 1 : 1;
}
char character_of(std::size_t id) {
    return id == 0 ? '\n' : static_cast<char>(' ' + id - 1);
}

// A custom data set: stretches of a text, and for each of their characters the next one.
class stretches {
public:
    using target_type = cn::data::label<vocabulary, steps>;
    template <std::size_t>
    using input_shape = cn::ids<vocabulary, steps>;
    static constexpr std::size_t input_count = 1;

    stretches(std::vector<int> text, std::size_t apart) : text_{std::move(text)}, apart_{apart} {}

    std::size_t size() const { return (text_.size() - steps - 1) / apart_; }
    template <std::size_t, class T>
    void copy_input(std::size_t sample, T* out) const {
        copy(sample * apart_, out);
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const {
        copy(sample * apart_ + 1, out);
    }

private:
    template <class T>
    void copy(std::size_t first, T* out) const {
        for (std::size_t i = 0; i < steps; ++i) {
            out[i] = T(text_[first + i]);
        }
    }

    std::vector<int> text_;
    std::size_t apart_;
};

// Goes on with a text: one character after another, by the probabilities of the model, which keeps
// what it has read.
template <class Model>
std::string continued(Model const& model, std::string text, std::size_t length) {
    std::mt19937 random{7};
    cn::stateful_predictor reader{model};
    std::span<float const> logits;
    std::size_t seen = steps; // characters that it knows
    for (std::size_t n = 0; n < length; ++n) {
        if (seen == steps) { // as many as it can: it reads the last ones again, all at once
            std::vector<std::int32_t> last;
            for (char const c : text.substr(text.size() - std::min(text.size(), steps / 2))) {
                last.push_back(id_of(c));
            }
            logits = reader.prefill(last);
            seen = last.size();
        } else {
            logits = reader.predict(id_of(text.back()));
            ++seen;
        }
        std::vector<double> weights(vocabulary);
        for (std::size_t k = 0; k < vocabulary; ++k) { // a little more sure than the model is
            weights[k] = std::exp(logits[k] / 0.7);
        }
        std::discrete_distribution<std::size_t> next(weights.begin(), weights.end());
        text += character_of(next(random));
    }
    return text;
}

int main(int count, char** values) try {
    std::vector<std::string> files(values + 1, values + count);
    if (files.empty()) {
        for (char const* name : {"GPL-2", "GPL-3", "LGPL-2.1", "GFDL-1.3", "MPL-1.1", "MPL-2.0"}) {
            files.push_back(std::string{"/usr/share/common-licenses/"} + name);
        }
    }
    std::vector<int> train, test;
    for (std::string const& file : files) {
        std::ifstream in{file};
        if (!in) {
            throw cn::error({"character_gpt: there is no file ", file});
        }
        std::string const text{std::istreambuf_iterator<char>{in}, {}};
        for (std::size_t i = 0; i < text.size(); ++i) {
            (i * 10 / text.size() == 9 ? test : train).push_back(id_of(text[i]));
        }
    }
    cn::model<network, cn::policy::cpu, cn::batch<32>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adamw{.learning_rate = 2e-3},
                                cn::perplexity, cn::accuracy);
    training.fit(
        stretches{train, 16},
        {.epochs = 8, .schedule = cn::one_cycle(2e-3), .validation = stretches{test, steps}});
    std::printf("\n%s\n", continued(model, "  You may copy", 400).c_str());
} catch (cn::error const& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
}
