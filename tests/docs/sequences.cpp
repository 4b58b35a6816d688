// Programs of docs/guide.md, between "// [name]" and "// [/name]"; check_snippets.sh compares.
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

// [recurrent]
using forecaster =
    cn::sequential<cn::input<48, 8>, // a sequence: time, features
                   cn::gru<32>.return_sequences(), cn::dropout<0.2>,
                   cn::bidirectional<cn::lstm<16>>, // of the last step: 2 * 16 features
                   cn::dense<1>>;
// [/recurrent]

// [lengths]
struct sentiment {
    constexpr auto operator()(auto words, auto length) const {
        return cn::lstm<64>(cn::with_lengths(words, length)) | cn::dense<2>;
    }
};
using sentiment_network = cn::network<sentiment{}, cn::input<140, 32>, cn::input_length<140>>;
// [/lengths]

// [encoder]
struct translate {
    constexpr auto operator()(auto from, auto to) const {
        constexpr auto encoder = cn::lstm<24>, decoder = cn::lstm<24>;
        auto const [h, c] = encoder.with_state(from).last;
        return decoder.with_state(to, h, c).outputs | cn::dense<20>;
    }
};
// [/encoder]
using translation = cn::network<translate{}, cn::input<9, 6>, cn::input<7, 6>>;

// [stateful]
using distortion = cn::sequential<cn::input<2048, 1>, // one number in each step
                                  cn::lstm<16>.return_sequences(), cn::dense<1>>;
using distortion_model = cn::model<distortion, cn::policy::cpu, cn::batch<1>>;

void play(distortion_model const& model, std::span<float> samples) {
    cn::stateful_predictor voice{model}; // with a state of its own
    for (float& x : samples) {
        x = voice.predict(x)[0];
    }
}
// [/stateful]

// [scan]
struct leaky_layer { // h_t = h_(t-1) + rate (tanh(x_t W + h_(t-1) R) - h_(t-1))
    static constexpr char const* name = "leaky";

    template <std::size_t Time, std::size_t Features>
    constexpr auto operator()(cn::symbol<cn::shape<Time, Features>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{name}};
        auto const rate = cn::sigmoid(cn::new_parameter<cn::shape<32>>(*x.g, "rate", {}));
        auto const read = x | cn::named<"read", cn::dense<32>>; // of all steps at once
        auto const cell = [&](auto x_t, auto h) {
            return h + rate * (cn::tanh(x_t + (h | cn::named<"state", cn::dense<32>>)) - h);
        };
        return cn::scan(read, cn::shape<32>{}, cell).outputs;
    }
};
inline constexpr leaky_layer leaky{};
// [/scan]

// [carries]
struct moving_mean { // of a sequence of numbers: the sum and how many there are pass on
    constexpr auto operator()(auto x) const {
        auto const [means, last] =
            cn::scan(x, cn::shape<>{}, cn::shape<>{}, [](auto x_t, auto sum, auto count) {
                auto const all = 0.9 * sum + x_t, weight = 0.9 * count + 1;
                return cn::carry(all, weight).output(all / weight);
            });
        return means;
    }
};
// [/carries]

// [matrix]
template <std::size_t Keys, std::size_t Values>
struct fast_weights { // S_t = S_(t-1) + k (v - k S_(t-1)), read as k S_t
    template <std::size_t... Row>
    static constexpr auto outer(auto k, auto v, std::index_sequence<Row...>) {
        return cn::concat((k[Row] * v)...);
    }
    template <std::size_t... Row>
    static constexpr auto product(auto k, auto s, std::index_sequence<Row...>) {
        return ((k[Row] * cn::slice<0, Row * Values, (Row + 1) * Values>(s)) + ...);
    }
    constexpr auto operator()(auto x) const {
        constexpr auto rows = std::make_index_sequence<Keys>{};
        auto const keys = x | cn::dense<Keys> | cn::softmax;
        auto const values = x | cn::dense<Values>;
        auto const cell = [=](auto x_t, auto s) {
            auto const k = cn::slice<0, 0, Keys>(x_t);
            auto const v = cn::slice<0, Keys, Keys + Values>(x_t);
            auto const now = s + outer(k, v - product(k, s, rows), rows);
            return cn::carry(now).output(product(k, now, rows));
        };
        return cn::scan(cn::concat(keys, values), cn::shape<Keys * Values>{}, cell).outputs;
    }
};
// [/matrix]

// [attentive]
struct attentive_decoder { // what each step reads of the keys depends on the step before
    constexpr auto operator()(auto x, auto keys) const {
        auto h = cn::slice<0, 0, 1>(keys); // a sequence of one step
        for (auto x_t : cn::split<0, 6>(x)) {
            auto const seen = cn::shared<"see", cn::multi_head_attention<2>>(h, keys);
            h = cn::tanh(x_t + (seen | cn::shared<"back", cn::dense<8>>));
        }
        return h;
    }
};
using decoder_network = cn::network<attentive_decoder{}, cn::input<6, 8>, cn::input<5, 8>>;
// [/attentive]

// [words]
struct classifier {
    constexpr auto operator()(auto words, auto length) const {
        auto const x = words | cn::embedding<20'000, 64>.padding_idx(0) |
                       cn::conv1d<64, 3, cn::conv{.padding = cn::same}> | cn::relu;
        return cn::global_avg_pool1d(x, length) | cn::dense<4>; // of the words that are there
    }
};
using text_network = cn::network<classifier{}, cn::input_ids<20'000, 200>, cn::input_length<200>>;
using text_data = cn::data::dataset<cn::data::label<4>, cn::ids<20'000, 200>, cn::length_of<200>>;
// [/words]

// [tags]
using tagger = cn::sequential<cn::input_ids<20'000, 50>, cn::embedding<20'000, 64>,
                              cn::bidirectional<cn::lstm<32>>.return_sequences(),
                              cn::dense<17>>; // logits of 17 tags for each word
using tagged_texts = cn::data::dataset<cn::data::label<17, 50>, cn::ids<20'000, 50>>;
// [/tags]

// [rare]
struct rare_tags { // in each sample by itself, steps of class 3 count ten times
    static constexpr char const* name = "rare_tags";
    static constexpr bool labels = true;
    constexpr auto operator()(auto logits, auto label) const {
        auto const there = cn::greater_equal(label, 0); // and not data::ignored
        auto const weight = there * (1 + 9 * cn::equal(label, 3));
        return cn::sum(weight * cn::cross_entropy.of_each(logits, label)) / cn::sum(weight);
    }
};
// [/rare]

// [ctc]
using reader = cn::sequential<cn::input<64, 16>, // 64 columns of 16 pixels
                              cn::bidirectional<cn::lstm<32>>.return_sequences(),
                              cn::dense<27>>; // a blank and 26 letters
using written_words = cn::data::dataset<cn::data::label<27, 10>, cn::shape<64, 16>>;
// [/ctc]

// [language]
struct language_model { // of words, with the same weights at both ends
    constexpr auto operator()(auto words) const {
        return words | cn::shared<"words", cn::embedding<20'000, 64>> |
               cn::gru<64>.return_sequences() | cn::shared<"words", cn::tied_output<20'000>>;
    }
};
// [/language]

// [along]
struct both_ends { // the features of the first three steps and of the last three, turned around
    template <std::size_t Time, std::size_t Features>
    constexpr auto operator()(cn::symbol<cn::shape<Time, Features>> x) const {
        auto const first = cn::slice<0, 0, 3>(x), last = cn::slice<0, Time - 3, Time>(x);
        return cn::concatenate<1>(first, last | cn::reverse<0>); // (3, 2 * features)
    }
};
// [/along]

} // namespace

TEST_CASE("words of the guide") {
    // [padded]
    std::vector<std::vector<int>> const texts{{17, 4, 230}, {8, 1, 4, 4, 19'999}};
    auto const [words, lengths] = cn::data::pad_sequences<200>(texts);
    text_data const data{words, lengths, std::vector<int>{2, 0}};
    // [/padded]
    // [grouped]
    auto const grouped = cn::data::grouped_by_length<1>(data, 32); // of input 1
    // [/grouped]
    CHECK(grouped.size() == 2);
    CHECK(data.size() == 2);
    CHECK(text_network::parameter_count == 20'000 * 64 + 64 * (3 * 64 + 1) + 4 * (64 + 1));
    cn::model<tagger, cn::policy::cpu, cn::batch<2>> tags;
    auto rarely = cn::compile(tags, rare_tags{}, cn::adam{});
    CHECK(rarely.evaluate(tagged_texts{std::vector<int>(100), std::vector<int>(100, 3)}).loss() >
          0);
    CHECK(tagger::parameter_count == 20'000 * 64 + 2 * 4 * 32 * (64 + 32 + 2) + 17 * (64 + 1));
    CHECK(tagged_texts::target_count == 1);
    CHECK(written_words::target_count == 1);
    CHECK(reader::parameter_count == 2 * 4 * 32 * (16 + 32 + 2) + 27 * (64 + 1));
    CHECK(cn::network<language_model{}, cn::input_ids<20'000, 10>>::parameter_count ==
          20'000 * 64 + 3 * 64 * (64 + 64 + 2));
    CHECK(cn::sequential<cn::input<7, 4>, both_ends{}, cn::dense<1>>::parameter_count == 9);
}

TEST_CASE("sequences of the guide") {
    cn::model<cn::network<moving_mean{}, cn::input<3>>, cn::policy::cpu, cn::batch<1>> means;
    auto const y = means.predict(std::vector<float>{2, 2, 2});
    CHECK(y[0] == doctest::Approx(2));
    CHECK(y[2] == doctest::Approx(2));
    distortion_model const model;
    std::vector<float> samples(2048, 0.5F);
    auto const whole = model.predict(samples);
    play(model, std::span{samples}.first(3));
    CHECK(samples[2] == doctest::Approx(whole[2]));
    CHECK(forecaster::parameter_count ==
          3 * 32 * (8 + 32 + 2) + 2 * 4 * 16 * (32 + 16 + 2) + 32 + 1);
    CHECK(sentiment_network::parameter_count == 4 * 64 * (32 + 64 + 2) + 64 * 2 + 2);
    CHECK(translation::parameter_count == 2 * 4 * 24 * (6 + 24 + 2) + 24 * 20 + 20);
    using memory = cn::network<fast_weights<6, 3>{}, cn::input<9, 5>>;
    CHECK(memory::parameter_count == 6 * (5 + 1) + 3 * (5 + 1));
    CHECK(decoder_network::parameter_count == 4 * 8 * (8 + 1) + 8 * (8 + 1));
    CHECK(cn::sequential<cn::input<10, 4>, leaky>::parameter_count ==
          32 + 32 * (4 + 1) + 32 * (32 + 1));
}
