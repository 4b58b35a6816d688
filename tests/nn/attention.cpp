// Attention against PyTorch and finite differences.
#include <castnet/nn/attention.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/one_hot.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "torch_attention.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::layer_run, check::like_torch, check::values,
    cn::input, cn::shape;

namespace {

constexpr auto heads = cn::multi_head_attention<2>;
constexpr auto zeroth = cn::named<"0", heads>; // as in a chain

struct to_memory {
    constexpr auto operator()(auto x, auto memory) const { return zeroth(x, memory); }
};
struct of_lengths {
    constexpr auto operator()(auto x, auto lengths) const {
        return zeroth(x, cn::length_mask(lengths));
    }
};
struct with_mask {
    constexpr auto operator()(auto x, auto mask) const {
        return zeroth(x, cn::additive_mask(mask));
    }
};
struct with_all_masks {
    constexpr auto operator()(auto q, auto k, auto v, auto mask, auto lengths) const {
        return cn::attention<2>(
            q, k, v, cn::causal_mask,
            cn::additive_mask(mask | cn::reshape_to<cn::row_major_shape<2, 3, 3>>),
            cn::length_mask(lengths));
    }
};
struct plainly {
    constexpr auto operator()(auto q, auto k, auto v) const { return cn::attention<2>(q, k, v); }
};
struct by_distance { // a bias of its own for each distance between a query and a key
    template <cn::Shape S>
    constexpr cn::symbol<S> operator()(cn::symbol<S> scores) const {
        constexpr std::size_t time = S::extent[1];
        using pairs = shape<time, time>;
        cn::ir::graph& g = *scores.g;
        auto const table = cn::new_parameter<shape<2 * time - 1, S::extent[0]>>(g, "biases", {});
        auto const distance = cn::row_index<pairs>(g) - cn::channel_index<pairs>(g) + (time - 1);
        auto const row = cn::one_hot<2 * time - 1>(cn::reshape<time * time>(distance));
        return scores + cn::reshape_to<S>(cn::transpose(cn::matmul(row, table)));
    }
};
struct with_distances {
    constexpr auto operator()(auto x) const { return cn::attention<2>(x, x, x, by_distance{}); }
};
struct sees_all {
    constexpr auto operator()(auto scores) const { return scores; }
};
// With a mask of one's own, weights are stored.
template <bool Stored, class... Mask>
constexpr auto attend(auto q, auto k, auto v, Mask const&... masks) {
    constexpr auto layer = cn::attention<2>.dropout(0.25);
    if constexpr (Stored) {
        return layer(q, k, v, masks..., sees_all{});
    } else {
        return layer(q, k, v, masks...);
    }
}
template <bool Stored>
struct causal_of_lengths {
    constexpr auto operator()(auto q, auto k, auto v, auto lengths) const {
        return attend<Stored>(q, k, v, cn::causal_mask, cn::length_mask(lengths));
    }
};
template <bool Stored>
struct without_masks {
    constexpr auto operator()(auto q, auto k, auto v) const { return attend<Stored>(q, k, v); }
};
// More than a block of queries and of keys.
template <auto Function, auto... More>
using of_blocks = cn::network<Function, input<75, 6>, input<131, 6>, input<131, 2>, More...>;

struct of_keys {
    constexpr auto operator()(auto q, auto k, auto mask) const {
        return cn::attention<1>(q, k, k, cn::additive_mask(mask));
    }
};

// (nvcc 13.0 writes invalid C++ for such values within a test case.)
template <bool Stored>
struct causal_blocks : of_blocks<causal_of_lengths<Stored>{}, input<1>> {};
template <bool Stored>
struct unmasked_blocks : of_blocks<without_masks<Stored>{}> {};

} // namespace

TEST_CASE("a sequence attends to itself") {
    like_torch<cn::sequential<input<5, 6>, heads>>("self");
    like_torch<cn::sequential<input<5, 6>, heads.causal()>>("causal");
    like_torch<cn::sequential<input<5, 6>, heads.no_bias()>>("no_bias");
}

TEST_CASE("a sequence attends to another one, to its beginning, with additive masks") {
    like_torch<cn::network<to_memory{}, input<5, 6>, input<3, 6>>>("cross");
    like_torch<cn::network<of_lengths{}, input<5, 6>, input<1>>>("lengths");
    like_torch<cn::network<with_mask{}, input<5, 6>, input<5, 5>>>("additive");
}

TEST_CASE("gradients of attention") {
    against_finite_differences(check::run_of<heads.causal(), shape<4, 6>, true, 2>(), 1e-6);
    against_finite_differences(check::run_of<heads.dropout(0.25), shape<4, 6>, true, 2>(), 1e-6);
    against_finite_differences(check::run_of<heads, shape<1, 4>, true, 2>(), 1e-6);
    against_finite_differences(check::run_of<cn::frozen<heads>, shape<3, 4>, true, 2>(), 1e-6);
}

TEST_CASE("gradients of attention to other sequences, and with masks") {
    against_finite_differences(
        layer_run::of<cn::network<to_memory{}, input<2, 4>, input<3, 4>>, true, 2>(), 1e-6);
    against_finite_differences(
        layer_run::of<cn::network<with_mask{}, input<3, 4>, input<3, 3>>, true, 2>(), 1e-6);
    against_finite_differences(
        layer_run::of<cn::network<of_keys{}, input<3, 4>, input<2, 4>, input<2>>, true, 2>(), 1e-6);
}

TEST_CASE("gradients of attention with distances") {
    against_finite_differences(check::run_of<with_distances{}, shape<3, 4>, true, 2>(), 1e-6);
}

TEST_CASE("attention without stored weights is attention with stored weights") {
    auto const compare = [](layer_run stored, layer_run fused, values const& lengths) {
        for (layer_run* const r : {&stored, &fused}) {
            for (std::size_t i = 0; i < 3; ++i) {
                r->set_input(check::random_values(r->input(i).size(), std::uint32_t(i + 1)), i);
            }
            if (!lengths.empty()) {
                r->set_input(lengths, 3);
            }
            r->set_grad_output(check::random_values(r->grad_output().size(), 4));
            r->run();
        }
        check::close("output", fused.output(), stored.output(), 1e-13);
        values const output = fused.output(), gradient = fused.grad_input(1);
        int const before = cn::cpu::thread_count();
        cn::cpu::set_thread_count(before + 1);
        fused.run();
        cn::cpu::set_thread_count(before);
        CHECK(fused.output() == output); // to the bit
        CHECK(fused.grad_input(1) == gradient);
        for (std::size_t i = 0; i < 3; ++i) {
            check::close("gradient", fused.grad_input(i), stored.grad_input(i), 1e-13);
        }
    };
    compare(layer_run::of<causal_blocks<true>, true, 5>(),
            layer_run::of<causal_blocks<false>, true, 5>(), {131, 0, 1, 60.5, 1000});
    compare(layer_run::of<unmasked_blocks<true>, true, 1>(),
            layer_run::of<unmasked_blocks<false>, true, 1>(), {});
}

TEST_CASE("keys after a length are not even read") {
    values const lengths{131, 0, 1, 60, 100};
    layer_run r = layer_run::of<causal_blocks<false>, true, 5>();
    r.set_input(lengths, 3);
    r.set_grad_output(check::random_values(r.grad_output().size(), 4));
    std::vector<values> found;
    for (bool const broken : {false, true}) {
        for (std::size_t i = 0; i < 3; ++i) {
            values x = check::random_values(r.input(i).size(), std::uint32_t(i + 1));
            std::size_t const rows = i == 0 ? 75 : 131, of_row = x.size() / (5 * rows);
            for (std::size_t sample = 0; broken && i > 0 && sample < 5; ++sample) {
                auto const first = std::size_t(lengths[sample]) * of_row;
                std::fill(x.begin() + std::ptrdiff_t(sample * rows * of_row + first),
                          x.begin() + std::ptrdiff_t((sample + 1) * rows * of_row),
                          std::numeric_limits<double>::quiet_NaN());
            }
            r.set_input(x, i);
        }
        r.run();
        found.insert(found.end(), {r.output(), r.grad_input(0), r.grad_input(1), r.grad_input(2)});
    }
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(found[i] == found[4 + i]);
    }
}

TEST_CASE("dropout of attention is for training") {
    layer_run r = check::run_of<heads.dropout(0.5), shape<4, 6>, false, 2>();
    layer_run plain = check::run_of<heads, shape<4, 6>, false, 2>();
    for (layer_run* const each : {&r, &plain}) {
        std::uint32_t number = 1;
        each->set_input(check::random_values(48, number));
        for (auto const& p : each->parameters()) {
            each->set(p.name.text(), check::random_values(std::size_t(p.count()), ++number));
        }
        each->run();
    }
    CHECK(r.output() == plain.output());
}

TEST_CASE("a query that sees no key gets zeros, and sends no gradient") {
    using net =
        cn::network<with_all_masks{}, input<3, 4>, input<3, 4>, input<3, 2>, input<6, 3>, input<1>>;
    layer_run r = layer_run::of<net, true, 2>();
    for (std::size_t i = 0; i < 3; ++i) {
        r.set_input(check::random_values(r.input(i).size(), std::uint32_t(i + 1)), i);
    }
    double const never = -std::numeric_limits<double>::infinity();
    values mask(36, 0.0);
    mask[0] = never; // the first query of the first head sees the first key only
    r.set_input(mask, 3);
    r.set_input({3, 0}, 4);
    r.set_grad_output(values(12, 1.0));
    r.run();
    values const y = r.output();
    CHECK(y[0] == 0);
    CHECK(y[1] != 0);
    for (std::size_t i = 6; i < 12; ++i) { // the second sample has no keys at all
        CHECK(y[i] == 0);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        values const g = r.grad_input(i);
        for (std::size_t k = 0; k < g.size(); ++k) {
            CHECK(std::isfinite(g[k]));
            CHECK((k < g.size() / 2 || g[k] == 0));
        }
    }
}

TEST_CASE("what attends with a NaN gets a NaN") {
    layer_run r =
        layer_run::of<cn::network<plainly{}, input<3, 4>, input<3, 4>, input<3, 2>>, true, 1>();
    for (std::size_t i = 0; i < 3; ++i) {
        values x = check::random_values(r.input(i).size(), std::uint32_t(i + 1));
        x[0] = i == 0 ? std::numeric_limits<double>::quiet_NaN() : x[0];
        r.set_input(x, i);
    }
    r.run();
    values const y = r.output(); // of the first query's first head
    CHECK(std::isnan(y[0]));
    for (std::size_t i = 1; i < y.size(); ++i) {
        CHECK(std::isfinite(y[i]));
    }
}

TEST_CASE("names and shapes of parameters are those of PyTorch") {
    layer_run const r = check::run_of<heads, shape<3, 4>>();
    std::vector<std::string> names;
    for (auto const& p : r.parameters()) {
        names.push_back(p.name.text());
    }
    CHECK(names == std::vector<std::string>{"0.in_proj_weight", "0.in_proj_bias",
                                            "0.out_proj.weight", "0.out_proj.bias"});
    CHECK(r.parameters()[0].shape == cn::ir::axes_of<shape<12, 4>>);
}
