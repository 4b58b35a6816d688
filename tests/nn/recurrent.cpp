// rnn, gru and lstm against PyTorch (recurrent.safetensors), and their gradients against finite
// differences.
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/recurrent.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::values;
using cn::bidirectional, cn::gru, cn::input, cn::lstm, cn::relu_rnn, cn::rnn, cn::sequential;

namespace {

check::golden_file const& golden() {
    static check::golden_file const file{"recurrent"};
    return file;
}

// A case of the file, whose parameters have PyTorch's names; `set` gives it what else it reads.
template <class Set>
check::layer_run against_torch(check::layer_run r, std::string const& name, Set const& set) {
    auto const expected = [&](std::string const& what) { return golden()[name + "/" + what]; };
    auto const last_part = [](std::string const& text) { return text.substr(text.rfind('.') + 1); };
    CAPTURE(name);
    r.set_input(expected("input"));
    r.set_grad_output(expected("grad_output"));
    for (auto const& p : r.parameters()) {
        r.set(p.name.text(), expected(last_part(p.name.text())));
    }
    set(r);
    r.run();
    check::close("output", r.output(), expected("output"), 1e-12);
    check::close("grad_input", r.grad_input(), expected("grad_input"), 1e-12);
    for (auto const& p : r.parameters()) {
        std::string const text = p.name.text();
        check::close("grad_" + text, r.gradient(text), expected("grad_" + last_part(text)), 1e-12);
    }
    return r;
}
void against_torch(check::layer_run r, std::string const& name) {
    against_torch(std::move(r), name, [](check::layer_run&) {});
}

// Here and below, networks and functions are arguments, not layers: nvcc 13.0 does not take every
// layer as one of a function template.
template <class Network, std::size_t Batch = 4>
void compare(std::string const& name) {
    against_torch(check::layer_run::of<Network, true, Batch>(), name);
}

template <auto Layer>
struct of_lengths {
    constexpr auto operator()(auto x, auto lengths) const {
        return (cn::with_lengths(x, lengths) | Layer) + 0 * lengths;
    }
};
template <class Function, auto Lengths = input<>>
void compare_lengths(std::string const& name) {
    using net = cn::network<Function{}, input<5, 3>, Lengths>;
    against_torch(check::layer_run::of<net, true, 4>(), name,
                  [](check::layer_run& r) { r.set_input({5, 1, 3, 4}, 1); });
}

template <class Function>
void compare_started() {
    using net = cn::network<Function{}, input<5, 3>, input<4>, input<4>>;
    auto const r =
        against_torch(check::layer_run::of<net, true, 4>(), "lstm_state", [](check::layer_run& to) {
            to.set_input(golden()["lstm_state/h"], 1);
            to.set_input(golden()["lstm_state/c"], 2);
        });
    check::close("grad_h", r.grad_input(1), golden()["lstm_state/grad_h"], 1e-12);
    check::close("grad_c", r.grad_input(2), golden()["lstm_state/grad_c"], 1e-12);
}

// Three samples of at most two steps, of sequences with `Time` of them.
template <class Function, std::size_t Time>
check::layer_run of_two_steps() {
    using net = cn::network<Function{}, input<Time, 2>, input<>>;
    auto r = check::layer_run::of<net, true, 3>();
    for (auto const& p : r.parameters()) {
        r.set(p.name.text(), check::random_values(std::size_t(p.count()), 2));
    }
    auto const in_all_steps = [](std::size_t features, unsigned seed) {
        values const two = check::random_values(3 * 2 * features, seed);
        values all;
        for (std::size_t i = 0; i < 3 * Time * features; ++i) {
            std::size_t const sample = i / (Time * features), k = i % (Time * features);
            all.push_back(k < 2 * features ? two[sample * 2 * features + k] : double(i));
        }
        return all;
    };
    r.set_input(in_all_steps(2, 1));
    r.set_input({2, 0, 1}, 1);
    r.set_grad_output(in_all_steps(r.grad_output().size() / (3 * Time), 3));
    r.run();
    return r;
}
// Their first two steps; the others have to be 0.
values two_steps_of(values const& all, std::size_t time) {
    values first;
    std::size_t const of_sample = all.size() / 3;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % of_sample < of_sample / time * 2) {
            first.push_back(all[i]);
        } else {
            CHECK(all[i] == 0);
        }
    }
    return first;
}
template <class Function>
void compare_times() {
    auto const is = of_two_steps<Function, 7>(), expected = of_two_steps<Function, 2>();
    check::close("output", two_steps_of(is.output(), 7), expected.output(), 1e-14);
    check::close("grad_input", two_steps_of(is.grad_input(), 7), expected.grad_input(), 1e-14);
    for (auto const& p : is.parameters()) {
        std::string const name = p.name.text();
        check::close(name, is.gradient(name), expected.gradient(name), 1e-14);
    }
}

struct twice {
    static constexpr auto layer = cn::shared<"layer", lstm<4>.return_sequences()>;
    constexpr auto operator()(auto x) const { return x | layer | layer; }
};

struct with_initial_state {
    constexpr auto operator()(auto x, auto h, auto c) const {
        return lstm<4>.with_state(x, h, c).outputs;
    }
};

struct in_two_parts { // of a sequence, by containers of one layer
    static constexpr auto layer = cn::shared<"layer", lstm<4>>;
    constexpr auto operator()(auto x, auto h, auto c) const {
        auto const first = layer.with_state(cn::slice<0, 0, 2>(x), h, c);
        auto const [last_h, last_c] = first.last;
        auto const second = cn::on<0, layer>.with_state(cn::slice<0, 2, 5>(x), last_h, last_c);
        return cn::concatenate<0>(first.outputs, second.outputs);
    }
};
struct named_and_frozen {
    constexpr auto operator()(auto x) const {
        auto const [outputs, last] = cn::frozen<cn::named<"layer", gru<4>>>.with_state(x);
        return outputs + last;
    }
};

template <class Network>
void differentiate() {
    against_finite_differences(check::layer_run::of<Network, true, 3>());
}

template <class Function>
void differentiate_lengths() {
    using net = cn::network<Function{}, input<3, 2>, input<>>;
    against_finite_differences(check::layer_run::of<net, true, 5>());
}

struct encoder_and_decoder { // the last state of one is the first of the other
    constexpr auto operator()(auto x) const {
        constexpr auto encode = cn::lstm<3>, decode = cn::lstm<3>;
        auto const [h, c] = encode.with_state(x).last;
        return decode.with_state(x, h, c).outputs;
    }
};

} // namespace

TEST_CASE("recurrent layers compute what PyTorch does") {
    compare<sequential<input<5, 3>, rnn<4>.return_sequences()>>("rnn");
    compare<sequential<input<5, 3>, relu_rnn<4>.return_sequences()>>("rnn_relu");
    compare<sequential<input<5, 3>, bidirectional<rnn<4>>.return_sequences()>>("rnn_both");
    compare<sequential<input<5, 3>, gru<4>.return_sequences()>>("gru");
    compare<sequential<input<5, 3>, gru<4>>>("gru_last");
    compare<sequential<input<5, 3>, gru<4>.no_bias().return_sequences()>>("gru_no_bias");
    compare<sequential<input<5, 3>, lstm<4>.return_sequences()>>("lstm");
    compare<sequential<input<5, 3>, lstm<4>>>("lstm_last");
    compare<sequential<input<1, 3>, lstm<4>.return_sequences()>>("lstm_one_step");
    compare<sequential<input<5, 3>, lstm<4>.return_sequences()>, 1>("lstm_one_sample");
}

TEST_CASE("stacked layers in both directions do, too") {
    compare<sequential<input<5, 3>, gru<4>.layers<2>().bidirectional().return_sequences()>>(
        "gru_stacked_both");
    compare<sequential<input<5, 3>, lstm<4>.layers<2>().bidirectional().return_sequences()>>(
        "lstm_stacked_both");
    compare<sequential<input<5, 3>, bidirectional<lstm<4>>.layers<2>()>>("lstm_stacked_both_last");
}

TEST_CASE("steps behind the end of a sample do not count") {
    compare_lengths<of_lengths<lstm<4>.return_sequences()>>("lstm_lengths");
    compare_lengths<of_lengths<lstm<4>.return_sequences()>, input<1>>("lstm_lengths");
    compare_lengths<of_lengths<bidirectional<gru<4>>.return_sequences()>>("gru_lengths_both");
    compare_lengths<of_lengths<bidirectional<lstm<4>>.layers<2>().return_sequences()>>(
        "lstm_lengths_stacked_both");
    compare_lengths<of_lengths<bidirectional<lstm<4>>.layers<2>()>>(
        "lstm_lengths_stacked_both_last");
}

TEST_CASE("neither do steps behind the end of the longest sample") {
    compare_times<of_lengths<lstm<3>.return_sequences()>>();
    compare_times<of_lengths<bidirectional<lstm<2>>.layers<2>().return_sequences()>>();
    compare_times<of_lengths<bidirectional<gru<3>>.return_sequences()>>();
}

TEST_CASE("a recurrent layer may be shared, and start where it is told to") {
    using net = cn::network<twice{}, input<5, 4>>;
    against_torch(check::layer_run::of<net, true, 4>(), "lstm_twice");
    compare_started<with_initial_state>();
}

TEST_CASE("a container of a recurrent layer may do so, too") {
    compare_started<in_two_parts>();
    using net = cn::network<named_and_frozen{}, input<5, 3>>;
    auto r = check::layer_run::of<net, true, 2>();
    CHECK(r.parameters().front().name.text() == "layer.weight_ih_l0");
    CHECK_FALSE(r.parameters().front().trainable);
}

TEST_CASE("an empty sample has the initial state and no output") {
    using all = cn::network<of_lengths<lstm<3>.return_sequences()>{}, input<4, 2>, input<>>;
    using last = cn::network<of_lengths<bidirectional<gru<3>>>{}, input<4, 2>, input<>>;
    auto const nothing = [](check::layer_run r) {
        r.set_input(check::random_values(r.input().size(), 1));
        for (auto const& p : r.parameters()) {
            r.set(p.name.text(), check::random_values(std::size_t(p.count()), 2));
        }
        r.set_grad_output(check::random_values(r.grad_output().size(), 3));
        r.set_input({0, 0}, 1);
        r.run();
        CHECK(r.output() == check::values(r.output().size()));
        CHECK(r.grad_input() == check::values(r.grad_input().size()));
    };
    nothing(check::layer_run::of<all, true, 2>());
    nothing(check::layer_run::of<last, true, 2>());
}

TEST_CASE("recurrent dropout leaves out the same units in all steps") {
    // Each state is the step's 1 and what is kept, doubled, of the state before.
    using network =
        sequential<input<4, 3>, cn::relu_rnn<3>.recurrent_dropout(0.5F).return_sequences()>;
    auto r = check::layer_run::of<network, true, 8>();
    r.set("0.weight_ih_l0", {1, 0, 0, 0, 1, 0, 0, 0, 1});
    r.set("0.weight_hh_l0", {1, 0, 0, 0, 1, 0, 0, 0, 1});
    r.set("0.bias_ih_l0", {0, 0, 0});
    r.set("0.bias_hh_l0", {0, 0, 0});
    r.set_input(check::values(r.input().size(), 1.0));
    r.run();
    auto const y = r.output();
    std::size_t dropped = 0, units = y.size() / 4;
    for (std::size_t sample = 0; sample < units / 3; ++sample) {
        for (std::size_t unit = 0; unit < 3; ++unit) {
            auto const at = [&](std::size_t step) { return y[(sample * 4 + step) * 3 + unit]; };
            bool const is_dropped = at(1) == 1;
            dropped += is_dropped;
            CHECK(at(0) == 1);
            CHECK(at(1) == (is_dropped ? 1 : 3));
            CHECK(at(2) == (is_dropped ? 1 : 7));
            CHECK(at(3) == (is_dropped ? 1 : 15));
        }
    }
    CHECK(dropped > 0);
    CHECK(dropped < units);
}

TEST_CASE("gradients through time") {
    differentiate<sequential<input<4, 2>, rnn<3>>>();
    differentiate<sequential<input<4, 2>, gru<3>.return_sequences()>>();
    differentiate<sequential<input<4, 2>, lstm<3>>>();
    differentiate<sequential<input<1, 2>, lstm<3>.return_sequences()>>();
    differentiate<
        sequential<input<4, 2>, bidirectional<lstm<2>>.layers<3>(0.3F).return_sequences()>>();
    differentiate<sequential<input<4, 2>, gru<3>.recurrent_dropout(0.4F).return_sequences()>>();
    differentiate_lengths<of_lengths<lstm<3>.return_sequences()>>();
    differentiate_lengths<of_lengths<bidirectional<gru<2>>>>();
    against_finite_differences(
        check::layer_run::of<cn::network<encoder_and_decoder{}, input<3, 2>>, true, 2>());
}

TEST_CASE("recurrent layers have PyTorch's parameters and initial values") {
    using net = sequential<input<7, 3>, bidirectional<lstm<16>>>;
    static_assert(net::parameter_count == 2 * 64 * (3 + 16 + 2));
    auto const r = check::layer_run::of<net, true, 1>();
    REQUIRE(r.parameters().size() == 8);
    CHECK(r.parameters()[0].name.text() == "0.weight_ih_l0");
    CHECK(r.parameters()[7].name.text() == "0.bias_hh_l0_reverse");
    for (auto const& p : r.parameters()) {
        CHECK(p.start.kind == cn::initial::uniform);
        CHECK(p.start.value == doctest::Approx(0.25));
    }
}
