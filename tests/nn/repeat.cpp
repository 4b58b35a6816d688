// Repeated blocks against the same blocks written out, to the last bit.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/recurrent.hpp>
#include <castnet/nn/repeat.hpp>
#include <castnet/nn/transformer.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::values, cn::block, cn::conv, cn::conv2d, cn::dense, cn::input,
    cn::relu, cn::repeat, cn::residual, cn::sequential;

namespace {

// Two networks with the same parameters in the same places: the same results for the same numbers.
void same_numbers(layer_run a, layer_run b) {
    std::uint32_t stream = 0;
    auto const in_both = [&](std::size_t count, auto const& set) {
        values const x = check::random_values(count, ++stream);
        set(a, x);
        set(b, x);
    };
    for (std::size_t i = 0; i < a.inputs(); ++i) {
        in_both(a.input(i).size(), [i](layer_run& r, values const& x) { r.set_input(x, i); });
    }
    in_both(a.grad_output().size(), [](layer_run& r, values const& x) { r.set_grad_output(x); });
    REQUIRE(a.parameters().size() == b.parameters().size());
    for (std::size_t i = 0; i < a.parameters().size(); ++i) {
        auto const &p = a.parameters()[i], &q = b.parameters()[i];
        std::string const name = p.name.text();
        CHECK(name == q.name.text());
        CHECK(p.offset == q.offset);
        in_both(std::size_t(p.count()), [&](layer_run& r, values x) {
            for (double& w : x) { // variances are positive
                w = p.kind == cn::role::statistic ? w * w + 0.5 : w;
            }
            r.set(name, x);
        });
    }
    a.run();
    b.run();
    CHECK(a.output() == b.output());
    CHECK(a.grad_input() == b.grad_input());
    for (auto const& p : a.parameters()) {
        std::string const name = p.name.text();
        CAPTURE(name);
        if (p.trainable) {
            CHECK(a.gradient(name) == b.gradient(name));
        }
        CHECK(a.parameter(name) == b.parameter(name)); // running statistics
    }
}
template <class Repeated, class Written, bool Training = true>
void same_network() {
    same_numbers(layer_run::of<Repeated, Training, 3>(), layer_run::of<Written, Training, 3>());
}

// Reads what it is called with, and what the repetition before it left, in another place.
struct gated {
    constexpr auto operator()(auto x) const { return x * (x | cn::slice_channels<0, 1>); }
};

inline constexpr auto narrow = block<dense<4>, relu, dense<6>>;
inline constexpr auto wide = residual<dense<8>, relu, cn::dropout<0.3F>, dense<6>>;
inline constexpr auto attention = cn::transformer_encoder_layer<
    2, cn::transformer{.feed_forward = 8, .dropout = 0.2, .norm_first = true, .causal = true},
    cn::gelu>;
inline constexpr auto sequence = cn::lstm<6>.return_sequences();
inline constexpr conv same{.padding = cn::same};
inline constexpr cn::pooling pool{.stride = 1, .padding = 1};
inline constexpr auto image =
    block<residual<conv2d<3, 3, same>, cn::batch_norm, relu, cn::max_pool2d<3, pool>,
                   conv2d<3, 3, same>, cn::batch_norm>,
          relu>;

using mixed =
    sequential<input<4, 6>, dense<6>, repeat<3, wide>, repeat<2, narrow>, repeat<2, gated{}>>;
using mixed_written =
    sequential<input<4, 6>, dense<6>, wide, wide, wide, narrow, narrow, gated{}, gated{}>;
using deep = sequential<input<4, 6>, repeat<2, attention>, repeat<2, sequence>>;
using deep_written = sequential<input<4, 6>, attention, attention, sequence, sequence>;
using images = sequential<input<2, 5, 4>, conv2d<3, 1>, repeat<3, image>>;
using images_written = sequential<input<2, 5, 4>, conv2d<3, 1>, image, image, image>;

// Named as a ModuleList, and frozen.
struct listed {
    constexpr auto operator()(auto x) const {
        return x | cn::named<"blocks", repeat<2, wide>> | cn::frozen<repeat<2, narrow>>;
    }
};
struct listed_written {
    constexpr auto operator()(auto x) const {
        return x | cn::named<"blocks", block<wide, wide>> | cn::frozen<narrow, narrow>;
    }
};

// Blocks that read something of each sample and of all samples besides.
struct scaled_attention {
    constexpr auto operator()(auto x, auto scale, auto const& mask) const {
        return cn::tanh(scale * attention(x, mask));
    }
};
template <auto Blocks>
struct reading {
    constexpr auto operator()(auto x, auto number) const {
        auto const scale = cn::mean(cn::greater(x, 0)) + 2; // without gradients
        auto const lengths = 2 + cn::greater(number, 0);
        return cn::named<"blocks", Blocks>(x, scale, cn::length_mask(lengths));
    }
};
struct two_written {
    constexpr auto operator()(auto x, auto const&... more) const {
        auto const y = cn::named<"0", scaled_attention{}>(x, more...);
        return cn::named<"1", scaled_attention{}>(y, more...);
    }
};
template <auto Blocks>
using reading_network = cn::network<reading<Blocks>{}, input<4, 6>, input<>>;

} // namespace

TEST_CASE("repeated dense layers") {
    same_network<mixed, mixed_written>();
    same_network<mixed, mixed_written, false>();
    same_network<cn::network<listed{}, input<4, 6>>, cn::network<listed_written{}, input<4, 6>>>();
}

TEST_CASE("repeated attention and recurrence") {
    same_network<deep, deep_written>();
    same_network<reading_network<repeat<2, scaled_attention{}>>, reading_network<two_written{}>>();
}

TEST_CASE("repeated images with batch normalisation") {
    same_network<images, images_written>();
    same_network<images, images_written, false>();
}

TEST_CASE("gradients of a repeated block") {
    check::against_finite_differences(layer_run::of<images, true, 3>(), 1e-6);
}
