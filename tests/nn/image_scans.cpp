// Scans over sequences of images: conv_lstm2d against Keras' formula in PyTorch, cells of one's own
// against the same written step by step.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/conv_lstm2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/scan.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::layer_run, check::values;
using cn::input, cn::sequential, cn::shape, cn::size2;

namespace {

constexpr cn::conv same_size{.padding = cn::same};
constexpr cn::conv by_two{.stride = 2, .padding = size2{1, 0}};
constexpr auto all_states = cn::conv_lstm2d<3, 3, same_size>.return_sequences();

struct keras : sequential<input<2, 4, 5, 6>, all_states> {};
struct keras_by_two
    : sequential<input<2, 4, 5, 6>, cn::conv_lstm2d<2, size2{3, 2}, by_two>.return_sequences()> {};
struct last_state : sequential<input<2, 4, 5, 6>, cn::conv_lstm2d<3, 3, same_size>> {};
struct stacked : sequential<input<1, 3, 3, 4>, cn::conv_lstm2d<2, 3, same_size>.return_sequences(),
                            cn::conv_lstm2d<1, 2, cn::conv{.dilation = 2}>> {};
struct one_step : sequential<input<1, 1, 3, 3>, cn::conv_lstm2d<2, 2>> {};

// An image, a vector and a number go on; the output is another image.
constexpr auto cell = [](auto image, auto h, auto features, auto count) {
    auto const next =
        cn::tanh((image | cn::conv2d<2, 3, same_size>)+(h | cn::conv2d<2, 3, same_size>.no_bias()));
    auto const pooled = cn::global_avg_pool2d(next) | cn::named<"pooled", cn::dense<3>>;
    return cn::carry(next, cn::tanh(pooled + features), count + cn::mean(image))
        .output(next * (1 + count));
};
struct scanned {
    constexpr auto operator()(auto x, auto begin) const {
        auto const all = cn::scan(x, shape<2, 3, 4>{}, begin, shape<>{}, cell);
        auto const [h, features, count] = all.last;
        return cn::concat(cn::flatten(all.outputs), cn::flatten(h), features,
                          cn::stack(count, count));
    }
};
struct written_out {
    constexpr auto operator()(auto x, auto begin) const {
        auto const at = [&](auto part) { return cn::reshape<1, 3, 4>(part); };
        auto const step = [](auto... all) {
            return [&](auto image, auto h, auto features, auto count) {
                constexpr auto of_image = cn::shared<"conv2d_1", cn::conv2d<2, 3, same_size>>;
                constexpr auto of_state =
                    cn::shared<"conv2d_2", cn::conv2d<2, 3, same_size>.no_bias()>;
                auto const next = cn::tanh((image | of_image) + (h | of_state));
                auto const pooled =
                    cn::global_avg_pool2d(next) | cn::shared<"pooled", cn::dense<3>>;
                return cn::carry(next, cn::tanh(pooled + features), count + cn::mean(image))
                    .output(next * (1 + count));
            }(all...);
        };
        auto const [first, second] = cn::split<1, 2>(x);
        auto const zero = cn::mean(x) * 0;
        auto const nothing = cn::concatenate<0>(0 * at(first), 0 * at(first));
        auto const a = step(at(first), nothing, begin, zero);
        auto const [h, features, count] = a.carries;
        auto const b = step(at(second), h, features, count);
        auto const [h_2, features_2, count_2] = b.carries;
        auto const of_both =
            cn::concatenate<1>(cn::reshape<2, 1, 3, 4>(a.out), cn::reshape<2, 1, 3, 4>(b.out));
        return cn::concat(cn::flatten(of_both), cn::flatten(h_2), features_2,
                          cn::stack(count_2, count_2));
    }
};
using by_scan = cn::network<scanned{}, input<1, 2, 3, 4>, input<3>>;
using by_hand = cn::network<written_out{}, input<1, 2, 3, 4>, input<3>>;

struct in_order {
    constexpr auto operator()(auto x, auto) const { return cn::flatten(all_states(x)); }
};
struct by_lengths {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::flatten(all_states(cn::with_lengths(x, lengths)));
    }
};
struct backwards {
    constexpr auto operator()(auto x, auto) const {
        return cn::flatten(all_states(cn::backward(x)));
    }
};
struct turned_around {
    constexpr auto operator()(auto x, auto) const {
        return cn::flatten(cn::reverse<1>(all_states(cn::reverse<1>(x))));
    }
};
struct last_by_lengths {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::conv_lstm2d<2, 2>(cn::with_lengths(cn::backward(x), lengths));
    }
};
template <class F>
using with_a_number = cn::network<F{}, input<2, 4, 5, 6>, input<>>;

values random_weights(layer_run& r, values const& lengths) {
    std::uint32_t stream = 0;
    for (auto const& p : r.parameters()) {
        r.set(p.name.text(), check::random_values(std::size_t(p.count()), ++stream));
    }
    r.set_input(check::random_values(r.input().size(), 99));
    r.set_input(lengths, 1);
    r.set_grad_output(check::random_values(r.grad_output().size(), 98));
    r.run();
    return r.output();
}
template <class F>
values output_of(values const& lengths) {
    auto r = layer_run::of<with_a_number<F>, true, 3>();
    return random_weights(r, lengths);
}

} // namespace

TEST_CASE("conv_lstm2d computes what Keras' ConvLSTM2D does") {
    check::against_golden(layer_run::of<keras, true, 4>(), "conv_lstm", 1e-12, "volumes");
    check::against_golden(layer_run::of<keras_by_two, true, 4>(), "conv_lstm_stride2", 1e-12,
                          "volumes");
    auto all = layer_run::of<keras, false, 4>(), last = layer_run::of<last_state, false, 4>();
    check::golden_file const golden{"volumes"};
    for (layer_run* const r : {&all, &last}) {
        for (auto const& p : r->parameters()) {
            r->set(p.name.text(), golden["conv_lstm/" + p.name.text().substr(2)]);
        }
        r->set_input(golden["conv_lstm/input"]);
        r->run();
    }
    values const states = all.output(); // (4, 3, 4, 5, 6)
    values expected;
    for (std::size_t channel = 0; channel < 4 * 3; ++channel) {
        auto const from = states.begin() + std::ptrdiff_t(channel * 120 + 90);
        expected.insert(expected.end(), from, from + 30);
    }
    check::close("last state", last.output(), expected, 1e-15);
}

TEST_CASE("gradients of conv_lstm2d") {
    against_finite_differences(layer_run::of<stacked, true, 2>());
    against_finite_differences(layer_run::of<one_step, true, 2>());
}

TEST_CASE("a cell of images, vectors and numbers is that of every step") {
    auto scanned_run = layer_run::of<by_scan, true, 3>(),
         written = layer_run::of<by_hand, true, 3>();
    REQUIRE(scanned_run.parameters().size() == 5);
    values const begin = check::random_values(9, 97);
    values const found = random_weights(scanned_run, begin),
                 expected = random_weights(written, begin);
    check::close("output", found, expected, 1e-13);
    check::close("by input", scanned_run.grad_input(), written.grad_input(), 1e-13);
    check::close("by the vector", scanned_run.grad_input(1), written.grad_input(1), 1e-13);
    for (std::size_t i = 0; i < 5; ++i) {
        std::string const name = scanned_run.parameters()[i].name.text();
        CHECK(name == written.parameters()[i].name.text());
        check::close(name, scanned_run.gradient(name), written.gradient(name), 1e-12);
    }
    against_finite_differences(std::move(scanned_run), 1e-6);
}

TEST_CASE("scans of images go backward, and as far as lengths say") {
    CHECK(output_of<backwards>({4, 4, 4}) == output_of<turned_around>({4, 4, 4}));
    values const whole = output_of<in_order>({4, 4, 4});
    CHECK(output_of<by_lengths>({4, 4, 4}) == whole);
    values const part = output_of<by_lengths>({4, 1, 0});
    for (std::size_t i = 0; i < part.size(); ++i) {
        std::size_t const sample = i / (3 * 120), step = i / 30 % 4;
        bool const counts = step < (sample == 0 ? 4U : sample == 1 ? 1U : 0U);
        REQUIRE(part[i] == (counts ? whole[i] : 0));
    }
    auto r = layer_run::of<with_a_number<last_by_lengths>, true, 3>();
    random_weights(r, {4, 2, 0});
    values const y = r.output();
    CHECK(std::all_of(y.end() - std::ptrdiff_t(y.size() / 3), y.end(),
                      [](double x) { return x == 0; }));
}
