// Statistics of layers: the old value and the next one, means and sums over the batch, gradients,
// layers that are applied several times.
#include <castnet/nn/batch_mean.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/repeat.hpp>
#include <castnet/nn/statistic.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::run_of, check::values, cn::shape, cn::symbol;

namespace {

// Reads a statistic before its update is said and after it, and what it becomes.
struct counting_layer {
    template <std::size_t N>
    constexpr auto operator()(symbol<shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"counting"}};
        auto const steps = cn::new_statistic<shape<N>>(*x.g, "steps", cn::ones);
        auto const before = cn::square(x) * steps;
        auto const next = cn::update(steps, 2 * steps + 1);
        return before + 10 * x * steps + 100 * x * next;
    }
};
constexpr counting_layer counting{};

// Of the first statistic, what the second one was, and the other way round; and one that moves on.
struct exchanging_layer {
    template <std::size_t N>
    constexpr auto operator()(symbol<shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"exchanging"}};
        auto const a = cn::new_statistic<shape<N>>(*x.g, "a"),
                   b = cn::new_statistic<shape<N>>(*x.g, "b"),
                   last = cn::new_statistic<shape<N>>(*x.g, "last");
        cn::update(a, b);
        cn::update(b, a);
        auto const turned = cn::concat(cn::slice<0, 1, N>(last), cn::slice<0, 0, 1>(last));
        cn::update(last, cn::batch_mean(turned)); // of what is computed for each sample
        return x + a + 10 * b + 0 * last;
    }
};
constexpr exchanging_layer exchanging{};

// Without the mean of the batch, or the running one.
struct centring_layer {
    template <cn::Shape S>
    constexpr auto operator()(symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"centring"}};
        auto const running = cn::new_statistic<S>(*x.g, "mean");
        auto mean = running;
        if (x.g->trains()) {
            mean = cn::batch_mean(x);
            cn::update(running, cn::lerp(running, mean, 0.25));
        }
        return cn::square(x - mean) * mean;
    }
};
constexpr centring_layer centring{};

struct summing_layer {
    template <std::size_t N>
    constexpr auto operator()(symbol<shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"summing"}};
        auto sum = cn::new_statistic<shape<N>>(*x.g, "sum");
        auto samples = cn::new_statistic<shape<>>(*x.g, "samples");
        sum = cn::update(sum, cn::batch_sum(x));
        samples = cn::update(samples, samples + cn::batch_sum(0 * cn::sum(x) + 1));
        return x * sum + 0 * samples;
    }
};
constexpr summing_layer summing{};

struct twice {
    constexpr auto operator()(auto x) const {
        return x | cn::shared<"count", counting> | cn::shared<"count", counting>;
    }
};
using applied_twice = cn::network<twice{}, cn::input<1>>;

using written_out = cn::sequential<cn::input<2>, counting, centring, counting, centring>;
using repeated = cn::sequential<cn::input<2>, cn::repeat<2, cn::block<counting, centring>>>;

} // namespace

TEST_CASE("a statistic is what it was before the step, an update returns what it becomes") {
    layer_run r = run_of<counting, shape<3>, true, 2>();
    r.set_input({1, 2, 3, -1, -2, -3});
    r.set_grad_output({1, 1, 1, 1, 1, 1});
    r.set("0.steps", {1, 1, 1});
    r.run();
    CHECK(r.output() == values{1 + 310, 4 + 620, 9 + 930, 1 - 310, 4 - 620, 9 - 930});
    CHECK(r.grad_input() == values{2 + 310, 4 + 310, 6 + 310, -2 + 310, -4 + 310, -6 + 310});
    CHECK(r.parameter("0.steps") == values{3, 3, 3});
    r.run();
    CHECK(r.output()[0] == 3 + 30 + 700);
    CHECK(r.grad_input()[0] == 6 + 30 + 700);
    CHECK(r.parameter("0.steps") == values{7, 7, 7});
}

TEST_CASE("in evaluation it stays as it is") {
    layer_run r = run_of<counting, shape<3>, false, 1>();
    r.set_input({1, 2, 3});
    r.set("0.steps", {2, 2, 2});
    r.run();
    CHECK(r.output() == values{2 + 220, 8 + 440, 18 + 660});
    CHECK(r.parameter("0.steps") == values{2, 2, 2});
}

TEST_CASE("statistics that are made of each other, and of other elements of themselves") {
    layer_run r = run_of<exchanging, shape<4>, true, 1>();
    r.set_input({0, 0, 0, 0});
    r.set("0.a", {1, 2, 3, 4});
    r.set("0.b", {5, 6, 7, 8});
    r.set("0.last", {1, 2, 3, 4});
    r.run();
    CHECK(r.output() == values{51, 62, 73, 84});
    CHECK(r.parameter("0.a") == values{5, 6, 7, 8});
    CHECK(r.parameter("0.b") == values{1, 2, 3, 4});
    CHECK(r.parameter("0.last") == values{2, 3, 4, 1});
}

TEST_CASE("means of the batch have a gradient, and absent samples no part in them") {
    check::against_finite_differences(run_of<centring, shape<3>, true, 4>());
    check::against_finite_differences(run_of<centring, shape<2, 3, 4>, true, 3>());
    layer_run r = run_of<centring, shape<2>, true, 4>();
    r.set_input({1, 2, 3, 6, 5, 4, 1000, 1000});
    r.present({1, 2, 0.5, 0});
    r.set("0.mean", {0, 8});
    r.run();
    check::close("output", r.output(),
                 {4 * 3, 4 * 4, 0, 4 * 4, 4 * 3, 0, 997. * 997 * 3, 996. * 996 * 4}, 1e-12);
    check::close("mean", r.parameter("0.mean"), {0.75, 7}, 1e-14);

    layer_run running = run_of<centring, shape<2>, false, 1>();
    running.set_input({1, 2});
    running.set("0.mean", {3, 1});
    running.run();
    CHECK(running.output() == values{4 * 3, 1});
}

TEST_CASE("sums of the batch, and no gradient through an update") {
    layer_run r = run_of<summing, shape<2>, true, 3>();
    r.set_input({1, 2, 3, 4, 5, 6});
    r.set_grad_output({1, 1, 1, 1, 1, 1});
    r.set("0.samples", {5});
    r.present({1, 0, 4});
    r.run();
    CHECK(r.parameter("0.sum") == values{6, 8});
    CHECK(r.parameter("0.samples") == values{7});
    CHECK(r.output() == values{6, 16, 18, 32, 30, 48});
    CHECK(r.grad_input() == values{6, 8, 6, 8, 6, 8});
}

TEST_CASE("a shared layer updates a statistic in each application") {
    layer_run r = layer_run::of<applied_twice, true, 1>();
    r.set_input({2});
    r.set_grad_output({1});
    r.set("count.steps", {1});
    r.run();
    double const first = 4 + 20 + 600, by_first = 2 * 3 * first + 30 + 700;
    CHECK(r.output() == values{3 * first * first + 30 * first + 700 * first});
    CHECK(r.grad_input() == values{by_first * (4 + 10 + 300)});
    CHECK(r.parameter("count.steps") == values{7});
}

TEST_CASE("repeated blocks have statistics of their own") {
    layer_run a = layer_run::of<written_out, true, 3>(), b = layer_run::of<repeated, true, 3>();
    for (layer_run* r : {&a, &b}) {
        r->set_input({.01, .02, .03, .05, -.02, .01});
        r->set_grad_output({1, 2, 3, 4, 5, 6});
        std::uint32_t stream = 0;
        for (auto const& p : r->parameters()) {
            r->set(p.name.text(), check::random_values(std::size_t(p.count()), ++stream));
        }
        r->run();
        r->run();
    }
    CHECK(a.output() == b.output());
    CHECK(a.grad_input() == b.grad_input());
    REQUIRE(a.parameters().size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        std::string const name = a.parameters()[i].name.text();
        CAPTURE(name);
        CHECK(a.parameter(name) == b.parameter(b.parameters()[i].name.text()));
    }
}
