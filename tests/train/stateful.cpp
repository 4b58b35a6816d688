// Prediction step by step: equal to that of whole sequences, with states that are independent.
#include <castnet/castnet.hpp>

#include "policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

namespace cn = castnet;

namespace {

constexpr std::size_t length = 6;

template <class Net>
using model_of = cn::model<Net, check::policy, cn::batch<1>>;
using number = check::policy::value_type;
using numbers = std::vector<number>;

numbers waves(std::size_t count, double phase) {
    numbers all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = number(std::sin(1.7 * double(i) + phase));
    }
    return all;
}

template <std::size_t Size>
std::span<number const, Size> step_of(numbers const& x, std::size_t t) {
    return std::span<number const, Size>{x.data() + t * Size, Size};
}

// The outputs behind so many steps that are taken at once, and then one by one.
template <class Predictor>
void compare_behind(Predictor& steps, numbers const& whole, numbers const& x, std::size_t first) {
    constexpr std::size_t in = Predictor::template input_size<0>,
                          out = Predictor::template output_size<0>;
    auto y = steps.prefill(std::span{x}.first(first * in));
    for (std::size_t t = first;; ++t) {
        for (std::size_t i = 0; i < out && (whole.size() > out || t == length); ++i) {
            CHECK(double(y[i]) == doctest::Approx(double(whole[(t - 1) * out % whole.size() + i])));
        }
        if (t == length) {
            break;
        }
        y = steps.predict(step_of<in>(x, t));
    }
}

// The outputs of all steps, or of the last where the network has no others.
template <class Predictor>
void compare(Predictor& steps, numbers const& whole, numbers const& x) {
    constexpr std::size_t in = Predictor::template input_size<0>,
                          out = Predictor::template output_size<0>;
    bool const all = whole.size() == length * out;
    REQUIRE((all || whole.size() == out));
    for (std::size_t t = 0; t < length; ++t) {
        auto const y = steps.predict(step_of<in>(x, t));
        for (std::size_t i = 0; i < out && (all || t + 1 == length); ++i) {
            CHECK(double(y[i]) == doctest::Approx(double(whole[all ? t * out + i : i])));
        }
    }
}

// A second state that goes on where the first one is, in the middle of a sequence, while that one
// takes other steps.
template <class Model>
void compare_branch(Model const& model, numbers const& whole, numbers const& x) {
    cn::stateful_predictor first{model}, branch{model};
    constexpr std::size_t in = decltype(first)::template input_size<0>, half = length / 2;
    branch.predict(step_of<in>(x, 1)); // of another sequence
    for (std::size_t t = 0; t < half; ++t) {
        first.predict(step_of<in>(x, t));
    }
    branch.copy_state(first);
    CHECK(std::ranges::equal(branch.template output<0>(), first.template output<0>()));
    auto y = branch.template output<0>();
    for (std::size_t t = half; t < length; ++t) {
        y = branch.predict(step_of<in>(x, t));
        first.predict(step_of<in>(x, 0));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        CHECK(double(y[i]) == doctest::Approx(double(whole[whole.size() - y.size() + i])));
    }
}

template <auto... Layers>
void compare_chain() {
    model_of<cn::sequential<Layers...>> const model{cn::seed{3}};
    cn::stateful_predictor steps{model};
    numbers const x = waves(length * decltype(steps)::template input_size<0>, 1);
    compare(steps, model.predict(x), x);
    steps.reset();
    compare(steps, model.predict(x), x);
    for (std::size_t first = 1; first <= length; ++first) {
        compare_behind(steps, model.predict(x), x, first);
    }
    compare_branch(model, model.predict(x), x);
}

// Carries that change places, one that is the step itself, one that is a number, one that begins
// with a parameter and one that is the same in all steps.
struct carries {
    constexpr auto operator()(auto x) const {
        auto const start = cn::new_parameter<cn::shape<2>>(*x.g, "start", {});
        auto const cell = [](auto x_t, auto a, auto b, auto c, auto n, auto h) {
            auto const next = cn::tanh(h | cn::dense<2>) + c;
            return cn::carry(x_t, a, b, n / 2 + cn::mean(x_t), next).output(b * n + next);
        };
        constexpr cn::shape<2> zeros{};
        return cn::scan(x, zeros, zeros, zeros, cn::shape<>{}, start, cell).outputs;
    }
};

struct by_first_channel { // which all channels of the next state depend on
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<4>{},
                        [](auto x_t, auto h) { return x_t - h * (h | cn::slice_channels<0, 1>); })
            .outputs;
    }
};

struct of_numbers { // a sequence of numbers, of which functions are taken before and behind
    constexpr auto operator()(auto x) const {
        return 2 * cn::scan(cn::sin(x), cn::shape<>{}, [](auto x_t, auto sum) {
                       return cn::carry(x_t + sum / 2);
                   }).outputs;
    }
};

struct controlled { // a sequence, the state that it begins with, and a value that is no sequence
    constexpr auto operator()(auto x, auto start, auto gain) const {
        auto const [y, last] = cn::lstm<3>.with_state(x, start, start * 0);
        auto const [h, c] = last;
        return cn::outputs(y * gain, cn::concat(h, c) | cn::dense<1>);
    }
};

struct grouped_queries { // two heads of queries share one of keys and values
    constexpr auto operator()(auto x) const {
        auto const shared = [](auto heads) {
            auto const apart = heads | cn::reshape_to<cn::row_major_shape<length, 2, 3>>;
            return cn::repeat_interleave<1, 2>(apart) | cn::reshape<length, 12>;
        };
        return cn::attention<4>(x | cn::named<"queries", cn::dense<12>>,
                                shared(x | cn::named<"keys", cn::dense<6>>),
                                shared(x | cn::named<"values", cn::dense<6>>), cn::causal_mask);
    }
};

constexpr auto apart = cn::reshape_to<cn::row_major_shape<length, 3, 4>>;
constexpr auto together = cn::reshape<length, 12>;
struct of_rows { // of a matrix in each step, with something else for each step and each element
    constexpr auto operator()(auto x) const {
        auto const places = cn::new_parameter<cn::row_major_shape<length, 1, 4>>(
            *x.g, "places", {cn::role::vector, cn::random_uniform(1)});
        auto const rows = cn::softmax(cn::layer_norm(apart(x)) * places);
        return together(rows - cn::logsumexp<1>(rows, cn::keepdims));
    }
};
struct of_columns {
    constexpr auto operator()(auto x) const {
        auto const rows = apart(x);
        return cn::concat(cn::permute<0, 2, 1>(rows) | together, cn::mean<1>(rows),
                          cn::max<2>(rows));
    }
};
struct copies {
    constexpr auto operator()(auto x) const {
        auto const rows = cn::tile<1, 2, 2>(cn::flip<1>(apart(x))) | cn::reshape<length, 48>;
        return cn::concat(rows, cn::cumsum(x), cn::tile<1, 2>(x));
    }
};

// What is wrong with a network if it is to be computed step by step.
template <class Net>
constexpr cn::mistake mistake_of() {
    cn::ir::graph g{false};
    auto r = cn::detail::prediction_recipe::build<Net>(g);
    cn::ir::one_step{g, r}.run();
    return g.wrong;
}
template <auto... Layers>
constexpr bool refuses() {
    return mistake_of<cn::sequential<Layers...>>() == cn::mistake::not_step_by_step;
}

struct two_ends { // the end of a sequence, read by another one
    constexpr auto operator()(auto x) const {
        return cn::gru<2>.return_sequences()(x + cn::gru<2>(x));
    }
};
struct from_last_to_first {
    constexpr auto operator()(auto x) const {
        return cn::scan(cn::backward(x), cn::shape<2>{}, [](auto x_t, auto h) { return x_t + h; })
            .outputs;
    }
};
struct of_lengths {
    constexpr auto operator()(auto x, auto count) const {
        return cn::gru<2>(cn::with_lengths(x, count));
    }
};
struct masked_attention {
    constexpr auto operator()(auto x) const {
        auto const same = [](auto scores) { return scores; };
        return cn::attention<1>(x, x, x, cn::causal_mask, same);
    }
};
constexpr cn::transformer small{.feed_forward = 6, .dropout = 0};
struct encoder_part {
    constexpr auto operator()(auto from, auto count) const {
        return cn::named<"encoder", cn::transformer_encoder_layer<2, small>>(
            from, cn::length_mask(count));
    }
};
struct decoder_part {
    constexpr auto operator()(auto to, auto memory, auto count) const {
        return cn::named<"decoder", cn::transformer_decoder_layer<2, small>>(
                   to, memory | cn::reshape<4, 4>, cn::length_mask(count)) |
               cn::named<"head", cn::dense<3>>;
    }
};
struct translation {
    constexpr auto operator()(auto to, auto from, auto count) const {
        return decoder_part{}(to, encoder_part{}(from, count), count);
    }
};
struct of_vector {
    constexpr auto operator()(auto to, auto memory) const {
        return cn::transformer_decoder_layer<2, small>(to, memory | cn::reshape<length, 4>);
    }
};
struct two_sequences {
    constexpr auto operator()(auto to, auto from) const {
        return cn::transformer_decoder_layer<2, small>(to, from);
    }
};
struct first_step {
    constexpr auto operator()(auto x) const { return x | cn::slice_channels<0, 2>; }
};
struct pairs_of_steps {
    constexpr auto operator()(auto x) const {
        return cn::tanh(x | cn::reshape<length / 2, 4>) | cn::reshape<length, 2>;
    }
};
struct attention_to_rows { // (time, rows, columns): the rows of each step to those of the same
    constexpr auto operator()(auto x) const {
        auto const rows = x | cn::reshape_to<cn::row_major_shape<length, 3, 4>>;
        auto const weights = cn::softmax(cn::matmul_transposed(rows, cn::tanh(rows)));
        return cn::matmul(weights, rows) | cn::reshape<length, 12>;
    }
};
struct products_in_groups { // (time, groups, rows, columns), before the loop
    constexpr auto operator()(auto x) const {
        auto const a = x | cn::reshape_to<cn::row_major_shape<length, 2, 3, 2>>;
        return cn::matmul(a, cn::permute<0, 1, 3, 2>(a)) | cn::reshape<length, 18>;
    }
};
struct products_of_steps {
    constexpr auto operator()(auto x) const { return cn::matmul(cn::matmul_transposed(x, x), x); }
};
struct product_with_a_sequence { // of as many steps, all of which are known beforehand
    constexpr auto operator()(auto x, auto memory) const {
        auto const y = cn::lstm<4>.return_sequences()(x);
        return cn::matmul(y | cn::reshape_to<cn::row_major_shape<length, 1, 4>>,
                          memory | cn::reshape_to<cn::row_major_shape<length, 4, 1>>) |
               cn::reshape<length, 1>;
    }
};
struct mean_over_time {
    constexpr auto operator()(auto x) const { return x - cn::mean<0>(x); }
};
struct tiled_sequence {
    constexpr auto operator()(auto x) const { return cn::tile<2, 1>(x); }
};
struct features_outside {
    constexpr auto operator()(auto x) const {
        return cn::permute<1, 0>(x) | cn::tanh | cn::permute<1, 0>;
    }
};
struct steps_inside { // of two groups, (2, time / 2, features)
    constexpr auto operator()(auto x) const {
        auto const groups = x | cn::reshape_to<cn::row_major_shape<2, length / 2, 2>>;
        return cn::permute<0, 2, 1>(groups) | cn::reshape<length, 2>;
    }
};
struct image_of_steps { // whose channels are steps
    constexpr auto operator()(auto x) const {
        return cn::tanh(x | cn::reshape<length, 2, 1>) | cn::reshape<length, 2>;
    }
};

} // namespace

TEST_CASE("steps one after the other compute what a sequence does") {
    compare_chain<cn::input<length, 3>, cn::lstm<4>.return_sequences(), cn::dense<2>>();
    compare_chain<cn::input<length, 3>, cn::dense<4>, cn::relu, cn::rnn<4>, cn::dense<1>>();
    compare_chain<cn::input<length, 1>, cn::gru<3>.layers<2>(0.5F).return_sequences(),
                  cn::layer_norm, cn::dropout<0.5F>, cn::softmax>();
}

TEST_CASE("causal convolutions keep the steps that the next one reads") {
    constexpr cn::conv near{.padding = cn::causal}, far{.padding = cn::causal, .dilation = 4};
    compare_chain<cn::input<length, 3>, cn::conv1d<4, 3, near>, cn::tanh, cn::conv1d<2, 2, far>>();
    compare_chain<cn::input<length>, cn::reshape<length, 1>, cn::conv1d<3, 4, near>,
                  cn::dense<1>>();
    compare_chain<cn::input<length, 2>, cn::conv1d<6, 1>, cn::relu, cn::gru<4>.return_sequences(),
                  cn::conv1d<4, 3, cn::conv{.padding = cn::causal, .groups = 2}>>();
    compare_chain<cn::input<length, 2>, cn::residual<cn::conv1d<2, 9, near>, cn::tanh>,
                  cn::lstm<3>>();
}

TEST_CASE("the features of each step may be a tensor of several axes") {
    compare_chain<cn::input<length, 4>, grouped_queries{}, cn::dense<2>>();
    compare_chain<cn::input<length, 12>, cn::gru<12>.return_sequences(), of_rows{}>();
    compare_chain<cn::input<length, 12>, of_columns{}, cn::lstm<3>>();
    compare_chain<cn::input<length, 12>, copies{}, cn::gru<4>.return_sequences()>();
    compare_chain<cn::input<length, 2>, cn::rnn<2>.return_sequences(), cn::upsample1d<2>>();
    compare_chain<cn::input<length, 12>, cn::gru<12>.return_sequences(), attention_to_rows{}>();
    compare_chain<cn::input<length, 12>, products_in_groups{}, cn::lstm<3>>();
}

TEST_CASE("a length that is given with each step") {
    using net = cn::network<of_lengths{}, cn::input<length, 2>, cn::input<>>;
    model_of<net> const model{cn::seed{3}};
    numbers const x = waves(length * 2, 1), count{4};
    numbers const last = model.predict(x, count);
    cn::stateful_predictor steps{model};
    for (std::size_t t = 0; t < length; ++t) {
        steps.predict(step_of<2>(x, t), count[0]);
    }
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(double(steps.output<0>()[i]) == doctest::Approx(double(last[i])));
    }
}

TEST_CASE("sequences with positions have as many steps as the network") {
    using net = cn::sequential<cn::input<2, 1>, cn::learned_positions, cn::rnn<1>>;
    model_of<net> const model{cn::seed{3}};
    cn::stateful_predictor steps{model};
    static_assert(steps.most_steps == 2);
    number const x = 1;
    number const first = steps.predict(x)[0];
    steps.predict(x);
    CHECK_THROWS_AS(steps.predict(x), cn::error);
    CHECK_THROWS_AS(steps.predict(x), cn::error);
    steps.reset();
    CHECK(steps.predict(x)[0] == first);
    CHECK_THROWS_AS(steps.prefill(numbers{1, 1, 1}), cn::error);
    CHECK_THROWS_AS(steps.prefill(numbers{}), cn::error);
    CHECK(steps.prefill(numbers{1})[0] == first);
}

TEST_CASE("a network may be written for a single step") {
    model_of<cn::sequential<cn::input<1, 3>, cn::lstm<2>>> const model{cn::seed{3}};
    model_of<cn::sequential<cn::input<length, 3>, cn::lstm<2>>> const same{cn::seed{3}};
    cn::stateful_predictor steps{model};
    numbers const x = waves(length * 3, 1);
    compare(steps, same.predict(x), x);

    constexpr auto slides = cn::conv1d<2, 3, cn::conv{.padding = cn::causal}>;
    model_of<cn::sequential<cn::input<1, 3>, slides>> const short_one{cn::seed{3}};
    model_of<cn::sequential<cn::input<length, 3>, slides>> const long_one{cn::seed{3}};
    cn::stateful_predictor sliding{short_one};
    compare(sliding, long_one.predict(x), x);
}

TEST_CASE("cells of one's own keep all that they carry") {
    compare_chain<cn::input<length, 2>, carries{}>();
    compare_chain<cn::input<length>, of_numbers{}>();
    compare_chain<cn::input<length, 4>, by_first_channel{}>();
}

TEST_CASE("a sequence has the same bits whenever it begins") {
    model_of<cn::sequential<cn::input<length, 1>, cn::gru<64>>> m{cn::seed{5}};
    cn::stateful_predictor steps{m};
    number const inputs[] = {1, 2, 3}; // an odd number: the second time, each is another's turn
    std::vector<numbers> states[2];
    for (auto& each : states) {
        steps.reset();
        for (number const x : inputs) {
            auto const y = steps.predict(x);
            each.emplace_back(y.begin(), y.end());
        }
    }
    CHECK(states[0] == states[1]);
}

TEST_CASE("a step leaves its carries where the next one reads them") {
    using net = cn::sequential<cn::input<length, 3>, cn::lstm<4>, cn::dense<2>>;
    using device = cn::cpu_device<float>;
    constexpr auto const& plan =
        cn::detail::compiled_step<cn::detail::one_step_recipe, net, device, 1, false>::value;
    for (std::size_t i = 1; i < 3; ++i) { // h and c, after the network's own
        CHECK(plan.outputs[i].where == plan.inputs[i].where);
        CHECK(plan.outputs[i].offset == plan.inputs[i].offset);
    }
}

TEST_CASE("steps of words") {
    using net = cn::sequential<cn::input_ids<7, length>, cn::embedding<7, 3>,
                               cn::gru<4>.return_sequences()>;
    model_of<net> const model{cn::seed{3}};
    std::vector<std::int32_t> const words{3, 0, 6, 6, 1, 2};
    numbers const whole = model.predict(words);
    cn::stateful_predictor steps{model};
    for (std::size_t t = 0; t < length; ++t) {
        auto const y = steps.predict(words[t]);
        for (std::size_t i = 0; i < 4; ++i) {
            CHECK(double(y[i]) == doctest::Approx(double(whole[4 * t + i])));
        }
    }
    CHECK_THROWS_AS(steps.predict(7), cn::error);
    auto const y = steps.prefill(words);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(double(y[i]) == doctest::Approx(double(whole[4 * (length - 1) + i])));
    }
    CHECK_THROWS_AS(steps.prefill(std::vector<std::int32_t>{1, 7, 1}), cn::error);
}

TEST_CASE("a step that is refused is none of the sequence") {
    using net =
        cn::sequential<cn::input_ids<7, 2>, cn::embedding<7, 3>, cn::learned_positions, cn::rnn<4>>;
    model_of<net> const model{cn::seed{3}};
    cn::stateful_predictor steps{model}, whole{model};
    steps.predict(3);
    whole.predict(3);
    CHECK_THROWS_WITH_AS(steps.predict(7), doctest::Contains("expected a whole number from 0 to 6"),
                         cn::error);
    auto const y = steps.predict(5), expected = whole.predict(5);
    CHECK(std::equal(y.begin(), y.end(), expected.begin()));
    CHECK_THROWS_WITH_AS(steps.predict(5), doctest::Contains("have 2 steps"), cn::error);
}

TEST_CASE("what has no time is given with each step") {
    using net = cn::network<controlled{}, cn::input<length, 2>, cn::input<3>, cn::input<>>;
    model_of<net> const model{cn::seed{5}};
    numbers const x = waves(2 * length, 1), start = waves(3, 2), gain{number(1.5)};
    numbers const all = model.predict<0>(x, start, gain), last = model.predict<1>(x, start, gain);
    cn::stateful_predictor steps{model};
    static_assert(steps.input_size<2> == 1 && steps.output_size<1> == 1);
    for (int again = 0; again < 2; ++again) {
        for (std::size_t t = 0; t < length; ++t) {
            auto const y = steps.predict(step_of<2>(x, t), step_of<3>(start, 0), gain[0]);
            for (std::size_t i = 0; i < 3; ++i) {
                CHECK(double(y[i]) == doctest::Approx(double(all[3 * t + i])));
            }
        }
        CHECK(double(steps.output<1>()[0]) == doctest::Approx(double(last[0])));
        steps.reset();
    }
    auto const y = steps.predict(numbers{x[0], x[1]}, start, gain);
    CHECK(double(y[0]) == doctest::Approx(double(all[0])));
    CHECK_THROWS_WITH_AS(steps.predict(x, start, gain),
                         doctest::Contains("a step of input 0 has 12 numbers, expected 2"),
                         cn::error);
    steps.prefill(x, start, gain);
    CHECK(double(steps.output<0>()[0]) == doctest::Approx(double(all[3 * (length - 1)])));
    CHECK(double(steps.output<1>()[0]) == doctest::Approx(double(last[0])));
    CHECK_THROWS_AS(steps.prefill(numbers{1, 1, 1}, start, gain), cn::error);
    CHECK_THROWS_AS(steps.prefill(x, start, start), cn::error);
}

template <class Predictor>
void compare_translation(Predictor& steps, numbers const& whole, numbers const& to,
                         numbers const& from, numbers const& count) {
    auto const check = [&](auto y, std::size_t t) {
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(double(y[i]) == doctest::Approx(double(whole[3 * t + i])));
        }
    };
    std::span<number const, 16> const memory{from.data(), 16};
    for (std::size_t t = 0; t < length; ++t) {
        check(steps.predict(step_of<4>(to, t), memory, count[0]), t);
    }
    check(steps.prefill(std::span{to}.first(12), from, count), 2);
    check(steps.predict(step_of<4>(to, 3), memory, count[0]), 3);
}

TEST_CASE("a decoder attends to all steps of what an encoder has read") {
    using both = cn::network<translation{}, cn::input<length, 4>, cn::input<4, 4>, cn::input<>>;
    using first = cn::network<encoder_part{}, cn::input<4, 4>, cn::input<>>;
    using second = cn::network<decoder_part{}, cn::input<length, 4>, cn::input<16>, cn::input<>>;
    model_of<both> const model{cn::seed{3}};
    model_of<first> encoder;
    model_of<second> decoder;
    cn::copy_parameters(model, encoder);
    cn::copy_parameters(model, decoder);
    numbers const to = waves(4 * length, 1), from = waves(16, 2), count{3};
    numbers const whole = model.predict(to, from, count);
    numbers const memory = encoder.predict(from, count);

    cn::stateful_predictor all{model};
    compare_translation(all, whole, to, from, count);
    cn::stateful_predictor behind{decoder};
    compare_translation(behind, whole, to, memory, count);

    using reshaped = cn::network<of_vector{}, cn::input<length, 4>, cn::input<4 * length>>;
    model_of<reshaped> const alike{cn::seed{4}};
    numbers const read = waves(4 * length, 3), expected = alike.predict(to, read);
    cn::stateful_predictor one{alike};
    for (std::size_t t = 0; t < length; ++t) {
        std::span<number const, 4 * length> const all_read{read.data(), 4 * length};
        auto const y = one.predict(step_of<4>(to, t), all_read);
        for (std::size_t i = 0; i < 4; ++i) {
            CHECK(double(y[i]) == doctest::Approx(double(expected[4 * t + i])));
        }
    }

    using of_one_length = cn::network<two_sequences{}, cn::input<length, 4>, cn::input<length, 4>>;
    static_assert(mistake_of<of_one_length>() == cn::mistake::not_step_by_step);
}

TEST_CASE("several states of one model do not meet, and sequences have any length") {
    using net = cn::sequential<cn::input<length, 1>, cn::lstm<3>>;
    model_of<net> model{cn::seed{3}};
    numbers const a = waves(length, 0), b = waves(length, 2);
    numbers const of_a = model.predict(a), of_b = model.predict(b);
    {
        cn::stateful_predictor one{model}, other{model};
        numbers y, z;
        for (std::size_t t = 0; t < length; ++t) {
            auto const now = one.predict(a[t]);
            y.assign(now.begin(), now.end());
            auto const then = other.predict(std::array{b[t]});
            z.assign(then.begin(), then.end());
        }
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(double(y[i]) == doctest::Approx(double(of_a[i])));
            CHECK(double(z[i]) == doctest::Approx(double(of_b[i])));
        }
        for (int i = 0; i < 100; ++i) { // of a step that stays the same, so do states
            one.predict(number(0.5));
            other.predict(number(0.5));
        }
        CHECK(double(one.output<0>()[0]) == doctest::Approx(double(other.output<0>()[0])));
        one.prefill(numbers(100, number(0.5))); // more than are computed at once
        CHECK(double(one.output<0>()[0]) == doctest::Approx(double(other.output<0>()[0])));

        // Its parameters stay as they are.
        numbers const weight = model.get("0.weight_hh_l0");
        CHECK_THROWS_AS(model.set("0.weight_hh_l0", weight), cn::error);
    }
    model.set("0.weight_hh_l0", model.get("0.weight_hh_l0"));
}

TEST_CASE("a predictor moves with its state, and gives the parameters free at the end") {
    using net = cn::sequential<cn::input<length, 1>, cn::lstm<3>>;
    using predictor = cn::stateful_predictor<model_of<net>>;
    static_assert(std::is_nothrow_move_constructible_v<predictor> &&
                  std::is_nothrow_move_assignable_v<predictor> &&
                  !std::is_copy_constructible_v<predictor>);
    model_of<net> model{cn::seed{3}};
    numbers const x = waves(length, 0), expected = model.predict(x);
    {
        predictor first{model};
        first.predict(x[0]);
        cn::stateful_predictor moved{std::move(first)};
        static_assert(std::is_same_v<decltype(moved), predictor>);
        first = predictor{model};
        for (std::size_t t = 1; t < length; ++t) {
            first.predict(x[0]); // a sequence of its own
            moved.predict(x[t]);
        }
        first = std::move(moved);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(double(first.output<0>()[i]) == doctest::Approx(double(expected[i])));
        }
        char const* const refusal = "castnet: this stateful_predictor was moved away; call the one "
                                    "that it was moved to";
        CHECK_THROWS_WITH_AS(moved.predict(x[0]), refusal, cn::error);
        CHECK_THROWS_WITH_AS(moved.prefill(x), refusal, cn::error);
        CHECK_THROWS_WITH_AS(moved.reset(), refusal, cn::error);
        CHECK_THROWS_WITH_AS(first.copy_state(moved), refusal, cn::error);
        CHECK_THROWS_AS(model.set("0.bias_hh_l0", model.get("0.bias_hh_l0")), cn::error);
    }
    model.set("0.bias_hh_l0", model.get("0.bias_hh_l0"));
}

TEST_CASE("what needs other steps than those before is refused") {
    constexpr auto x = cn::input<length, 2>;
    constexpr auto all = cn::gru<2>.return_sequences();
    static_assert(refuses<x, cn::bidirectional<cn::gru<2>>>());
    static_assert(refuses<x, from_last_to_first{}>());
    static_assert(refuses<x, two_ends{}>());
    static_assert(refuses<x, all, cn::flatten, cn::dense<2>>());
    static_assert(refuses<x, all, cn::flatten, first_step{}>());
    static_assert(refuses<x, all, cn::global_avg_pool1d>());
    static_assert(refuses<x, all, cn::conv1d<2, 3, cn::conv{.padding = cn::same}>>());
    static_assert(refuses<x, all, cn::conv1d<2, 3>>());
    static_assert(refuses<x, all, cn::multi_head_attention<1>>());
    static_assert(refuses<x, all, masked_attention{}>());
    static_assert(refuses<x, all, cn::reverse<0>>());
    static_assert(refuses<x, all, cn::upsample1d<2>.linear()>());
    static_assert(refuses<x, all, pairs_of_steps{}>());
    static_assert(refuses<x, all, mean_over_time{}>());
    static_assert(refuses<x, all, tiled_sequence{}>());
    static_assert(refuses<x, all, features_outside{}>());
    static_assert(refuses<x, all, steps_inside{}>());
    static_assert(refuses<x, all, image_of_steps{}>());
    static_assert(refuses<x, all, products_of_steps{}>());
    using two = cn::network<product_with_a_sequence{}, cn::input<length, 2>, cn::input<4 * length>>;
    static_assert(mistake_of<two>() == cn::mistake::not_step_by_step);
    using none = cn::sequential<x, cn::dense<2>>;
    static_assert(mistake_of<none>() == cn::mistake::no_loop_over_time);
    static_assert(mistake_of<cn::sequential<x, all, cn::flatten>>() == cn::mistake::none);
}
