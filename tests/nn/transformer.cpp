// Positions and blocks of transformers against PyTorch and finite differences.
#include <castnet/nn/transformer.hpp>

#include "torch_attention.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::layer_run, check::like_torch, check::run_of,
    check::values, cn::input, cn::shape, cn::transformer;

namespace {

constexpr transformer small{.feed_forward = 8, .dropout = 0};
constexpr transformer norm_first{
    .feed_forward = 8, .dropout = 0, .norm_first = true, .causal = true};

struct decoder {
    constexpr auto operator()(auto x, auto memory) const {
        return cn::named<"0", cn::transformer_decoder_layer<2, small>>(x, memory);
    }
};
struct decoder_of_sets {
    constexpr auto operator()(auto x, auto memory) const {
        return cn::named<"0", cn::transformer_decoder_layer<2, small>.not_causal()>(x, memory);
    }
};
struct decoder_of_lengths {
    constexpr auto operator()(auto x, auto memory) const {
        auto const lengths = 2 + cn::greater(cn::mean(memory), 0);
        return cn::transformer_decoder_layer<2, transformer{.feed_forward = 3, .norm_first = true}>(
            x, memory, cn::length_mask(lengths));
    }
};

} // namespace

TEST_CASE("waves of the position") {
    constexpr std::size_t time = 5, features = 6;
    auto r = run_of<cn::sinusoidal_positions, shape<time, features>, true, 2>();
    values const x = check::random_values(2 * time * features, 1);
    r.set_input(x);
    r.run();
    values expected = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t const feature = i % features, position = i / features % time;
        double const angle =
            double(position) / std::pow(10000, double(feature / 2 * 2) / double(features));
        expected[i] += feature % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
    check::close("sinusoidal", r.output(), expected, 1e-14);
}

TEST_CASE("positions as parameters and as rotations") {
    against_finite_differences(run_of<cn::learned_positions, shape<3, 4>, true, 2>());
    like_torch<cn::sequential<input<5, 16>, cn::rotary_positions<2>>>("rotary");
    against_finite_differences(
        run_of<cn::multi_head_attention<2>.rotary().causal(), shape<3, 8>, true, 2>(), 1e-6);
}

TEST_CASE("blocks of transformers") {
    like_torch<cn::sequential<input<5, 6>, cn::transformer_encoder_layer<2, small>>>("encoder");
    like_torch<cn::sequential<input<5, 6>, cn::transformer_encoder_layer<2, norm_first, cn::gelu>>>(
        "encoder_norm_first");
    like_torch<cn::network<decoder{}, input<5, 6>, input<3, 6>>>("decoder");
    like_torch<cn::network<decoder_of_sets{}, input<5, 6>, input<3, 6>>>("decoder_of_sets");
}

TEST_CASE("blocks with dropout and masks") {
    against_finite_differences(
        layer_run::of<cn::network<decoder_of_lengths{}, input<3, 4>, input<4, 4>>, true, 2>(),
        1e-5);
}
