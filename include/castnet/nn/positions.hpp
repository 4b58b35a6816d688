// Positions in sequences (time, features), which attention by itself does not see: added as waves
// or as parameters, or as rotations of queries and keys.
#pragma once

#include <castnet/graph/row_index.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

namespace detail {

// 10000^(-pair / pairs) for `pairs` channels.
template <size_t Pairs>
constexpr auto wave_frequencies(ir::graph& g) {
    constexpr double log_of_base = 9.210340371976184; // log(10000)
    return exp(channel_index<shape<Pairs>>(g) * (-log_of_base / static_cast<double>(Pairs)));
}

} // namespace detail

template <class Input>
inline constexpr bool has_positions = Input::rank == 2;
template <class Input>
inline constexpr bool has_pairs = Input::rank == 2 && channels_of<Input> % 2 == 0;

// x plus waves of the position (Vaswani et al. 2017): feature 2i is sin(position / 10000^(2i /
// features)), feature 2i + 1 the cosine of the same. No parameters.
struct sinusoidal_positions_layer {
    static constexpr char const* name = "sinusoidal_positions";

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(has_pairs<S>,
                      "castnet: sinusoidal_positions needs a sequence (time, features) with an "
                      "even number of features; see has_pairs<input shape>");
        if constexpr (has_pairs<S>) {
            constexpr size_t time = S::extent[0], pairs = S::extent[1] / 2;
            ir::graph& g = *x.g;
            using angles = shape<time, pairs>;
            auto const angle = row_index<angles>(g) * detail::wave_frequencies<pairs>(g);
            auto const of_pairs = reshaped(angle, shape<time * pairs, 1>{});
            auto const is_cosine = channel_index<shape<time * pairs, 2>>(g);
            return x + reshaped(where(is_cosine, cos(of_pairs), sin(of_pairs)), S{});
        } else {
            return x;
        }
    }
};
inline constexpr sinusoidal_positions_layer sinusoidal_positions{};

// x plus a parameter for each position: weight (time, features), normal with deviation 0.02 as
// GPT-2 has it (PyTorch: the weight of an Embedding that is asked for all positions).
struct learned_positions_layer {
    static constexpr char const* name = "learned_positions";
    initializer start = random_normal(0.02);

    constexpr learned_positions_layer init(initializer weight) const { return {weight}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(has_positions<S>,
                      "castnet: learned_positions needs a sequence (time, features); see "
                      "has_positions<input shape>");
        scope_guard const scope{*x.g, layer_kind{name}};
        return x + new_parameter<S>(*x.g, "weight", {role::vector, start});
    }
};
inline constexpr learned_positions_layer learned_positions{};

template <size_t Heads, class Input>
inline constexpr bool heads_have_pairs = Input::rank == 2 && Heads > 0 &&
                                         channels_of<Input> % (2 * Heads) == 0;

// Queries or keys (time, features) with the features of each head turned by their position (Su et
// al. 2021): features i and i + half of them are a pair, as in Llama and GPT-NeoX, and pair i turns
// by position / 10000^(i / half). So products of queries and keys depend on distances.
template <size_t Heads>
struct rotary_positions_function {
    static constexpr char const* name = "rotary_positions";

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(heads_have_pairs<Heads, S>,
                      "castnet: rotary_positions needs a sequence (time, features) with an even "
                      "number of features for each head; see heads_have_pairs<heads, input shape>");
        if constexpr (heads_have_pairs<Heads, S>) {
            constexpr size_t time = S::extent[0], half = S::extent[1] / Heads / 2;
            ir::graph& g = *x.g;
            using rows = shape<time * Heads, 2 * half>;
            auto const position = reshaped(row_index<shape<time, Heads>>(g) +
                                               0 * channel_index<shape<time, Heads>>(g),
                                           shape<time * Heads, 1>{});
            auto const angle = position * detail::wave_frequencies<half>(g);
            auto const heads = reshaped(x, rows{});
            auto const a = heads | slice_channels<0, half>, b = heads | slice_channels<half, half>;
            auto const cosine = cos(angle) + 0, sine = sin(angle) + 0;
            return reshaped(concat(a * cosine - b * sine, b * cosine + a * sine), S{});
        } else {
            return x;
        }
    }
};
template <size_t Heads>
inline constexpr rotary_positions_function<Heads> rotary_positions{};

} // namespace castnet
