// Recurrent layers: rnn<Units>, gru<Units> and lstm<Units>, with the definitions, the order of the
// gates and the names of parameters of PyTorch's RNN, GRU and LSTM.
//
// (time, features) becomes the (units) of the last step or, with .return_sequences(), the (time,
// units) of all; twice as many units if a layer runs in both directions. A layer takes the sequence
// alone, as in a chain of layers, or more from a function:
//
//     auto const h = cn::lstm<64>(cn::with_lengths(x, lengths));   // see nn/scan.hpp
//     auto const [all, last] = cn::lstm<64>.with_state(x, h0, c0); // initial state
//
// Parameters, for layer 0, 1, … and again with the suffix _reverse in the other direction, all
// uniform in ±1/sqrt(units): weight_ih_l0 (gates * units, features), weight_hh_l0 (gates * units,
// units), bias_ih_l0 and bias_hh_l0 (gates * units). Keras calls them kernel, recurrent_kernel and
// bias, which is their sum; its GRU has them with reset_after=True.
#pragma once

#include <castnet/core/square_root.hpp>
#include <castnet/nn/activations.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scan.hpp>

namespace castnet {

// Form of stacked recurrent layers: their number, directions and results.
struct recurrent_form {
    size_t layers = 1;
    bool both_directions = false;
    bool sequences = false;
};

// The cells: the new carries, of `input` (x_t and its weights), `state` (h and its weights), and
// the carries before.

// h = f(input + state) (Elman 1990)
template <auto Activation>
struct rnn_cell {
    static constexpr char const* name = "rnn";
    static constexpr size_t gates = 1, carries = 1;

    template <size_t Units>
    static constexpr auto step(auto input, auto state, auto) {
        return carry(Activation(input + state));
    }
};

// Cho et al. 2014, with the reset gate after the product. Gates: reset r, update z, new n:
// h' = (1 - z) n + z h with n = tanh(input + r state).
struct gru_cell {
    static constexpr char const* name = "gru";
    static constexpr size_t gates = 3, carries = 1;

    template <size_t Units>
    static constexpr auto step(auto input, auto state, auto h) {
        auto const reset =
            sigmoid((input | slice_channels<0, Units>)+(state | slice_channels<0, Units>));
        auto const update =
            sigmoid((input | slice_channels<Units, Units>)+(state | slice_channels<Units, Units>));
        auto const next = tanh((input | slice_channels<2 * Units, Units>)+reset *
                               (state | slice_channels<2 * Units, Units>));
        return carry(next + update * (h - next));
    }
};

// Hochreiter & Schmidhuber 1997, with forget gates (Gers et al. 2000). Gates: input i, forget f,
// cell g, output o: c' = f c + i g, h' = o tanh(c').
struct lstm_cell {
    static constexpr char const* name = "lstm";
    static constexpr size_t gates = 4, carries = 2;

    template <size_t Units>
    static constexpr auto step(auto input, auto state, auto, auto c) {
        constexpr auto gate = [](auto x, auto h, auto part) { return (x | part) + (h | part); };
        auto const in = sigmoid(gate(input, state, slice_channels<0, Units>));
        auto const forget = sigmoid(gate(input, state, slice_channels<Units, Units>));
        auto const cell = tanh(gate(input, state, slice_channels<2 * Units, Units>));
        auto const out = sigmoid(gate(input, state, slice_channels<3 * Units, Units>));
        auto const next = forget * c + in * cell;
        return carry(out * tanh(next), next);
    }
};

template <class Input>
inline constexpr bool recurrent_takes = Input::rank == 2;

namespace detail {

// The names of the parameters of one layer in one direction.
struct recurrent_names {
    char weight_ih[24]{}, weight_hh[24]{}, bias_ih[24]{}, bias_hh[24]{};

    constexpr recurrent_names(size_t layer, bool reverse) {
        write(weight_ih, "weight_ih_l", layer, reverse);
        write(weight_hh, "weight_hh_l", layer, reverse);
        write(bias_ih, "bias_ih_l", layer, reverse);
        write(bias_hh, "bias_hh_l", layer, reverse);
    }

private:
    static constexpr void write(char* to, char const* kind, size_t layer, bool reverse) {
        for (; *kind != '\0'; ++kind) {
            *to++ = *kind;
        }
        *to++ = static_cast<char>('0' + layer);
        for (char const* suffix = reverse ? "_reverse" : ""; *suffix != '\0'; ++suffix) {
            *to++ = *suffix;
        }
    }
};
template <size_t Layer, bool Reverse>
inline constexpr recurrent_names names_of_recurrent{Layer, Reverse};

} // namespace detail

// Whether a layer that carries so many states of this shape can begin with those that are found.
template <int Carries, class State, class... Found>
inline constexpr bool begins_state =
    sizeof...(Found) == Carries && (std::is_same_v<Found, State> && ...);

template <class Cell, size_t Units, recurrent_form Form = recurrent_form{}>
struct recurrent_layer {
    static constexpr char const* name = Cell::name;
    static_assert(Units > 0, "castnet: rnn, gru and lstm need at least one unit");
    static_assert(Form.layers > 0 && Form.layers <= 10,
                  "castnet: rnn, gru and lstm have 1 to 10 layers");
    static constexpr size_t units = Units > 0 ? Units : 1; // one mistake is one error

    float between = 0;   // rate of dropout between layers
    float recurrent = 0; // the same of the state
    bool has_bias = true;

    // The outputs of all steps instead of the last one (Keras' return_sequences; PyTorch returns
    // both).
    constexpr auto return_sequences() const {
        constexpr recurrent_form all{Form.layers, Form.both_directions, true};
        return with_form<all>();
    }
    // So many layers, each after the one before (PyTorch's num_layers), and the rate of dropout
    // between them.
    template <size_t Layers>
    constexpr auto layers(double dropout = 0) const {
        constexpr recurrent_form all{Layers, Form.both_directions, Form.sequences};
        auto stacked = with_form<all>();
        stacked.between = static_cast<float>(dropout);
        return stacked;
    }
    // In both directions, with the results side by side. (Keras' Bidirectional, PyTorch's
    // bidirectional=True; the latter's output at the last time is the first of the other
    // direction, its h_n is what is meant here.)
    constexpr auto bidirectional() const {
        constexpr recurrent_form both{Form.layers, true, Form.sequences};
        return with_form<both>();
    }
    // The state that a step reads is dropped with this probability: the same elements in all steps
    // of a sample (Gal & Ghahramani 2016; Keras' recurrent_dropout).
    constexpr recurrent_layer recurrent_dropout(double rate) const {
        recurrent_layer copy = *this;
        copy.recurrent = static_cast<float>(rate);
        return copy;
    }
    constexpr recurrent_layer no_bias() const {
        recurrent_layer copy = *this;
        copy.has_bias = false;
        return copy;
    }

    template <LayerInput X>
    constexpr auto operator()(X x) const {
        using S = typename X::shape_type;
        static_assert(
            recurrent_takes<S>,
            "castnet: rnn, gru and lstm need a sequence (time, features), such as that of "
            "the recurrent layer before with .return_sequences(); see "
            "recurrent_takes<input shape>");
        auto const steps = detail::steps_of(x);
        if constexpr (recurrent_takes<S> && Units > 0) {
            scope_guard const scope{*steps.values.g, layer_kind{Cell::name}};
            return from_layer<0>(steps);
        } else {
            return symbol<shape<units>>{steps.values.g, steps.values.id};
        }
    }

    // The outputs of all steps, and the state after the last one: h, of lstm a tuple of h and c.
    // For one layer in one direction. The initial state is zeros where it is not given.
    template <LayerInput X, class... Initial>
    constexpr auto with_state(X x, Initial... initial) const {
        static_assert(Form.layers == 1 && !Form.both_directions,
                      "castnet: with_state() is for one layer in one direction");
        static_assert(
            sizeof...(Initial) == 0 ||
                begins_state<Cell::carries, shape<Units>,
                             typename detail::carried_t<Initial>::shape_type...>,
            "castnet: with_state(x, h) takes what the layer carries, as many numbers each "
            "as it has units: h, and of lstm h and c; see begins_state<how many, shape "
            "expected, shapes found...>");
        auto const steps = detail::steps_of(x);
        scope_guard const scope{*steps.values.g, layer_kind{Cell::name}};
        return one_layer<0, false>(steps, initial...);
    }

private:
    template <recurrent_form Other>
    constexpr auto with_form() const {
        return recurrent_layer<Cell, Units, Other>{between, recurrent, has_bias};
    }

    template <size_t Layer, Shape S>
    constexpr auto from_layer(time_steps<S> x) const {
        constexpr bool last = Layer + 1 == Form.layers;
        constexpr bool all_steps = !last || Form.sequences;
        auto const y = both<Layer, all_steps>(x);
        if constexpr (last) {
            return y;
        } else {
            auto above = detail::steps_of(detail::dropped(y, static_cast<double>(between)));
            above.backward = x.backward;
            above.lengths = x.lengths;
            return from_layer<Layer + 1>(above);
        }
    }

    template <size_t Layer, bool Sequences, Shape S>
    constexpr auto both(time_steps<S> x) const {
        auto const there = result<Sequences>(one_layer<Layer, false>(x));
        if constexpr (Form.both_directions) {
            return concat(there, result<Sequences>(one_layer<Layer, true>(backward(x))));
        } else {
            return there;
        }
    }

    template <bool Sequences, class Outputs, class H>
    static constexpr auto result(scan_result<Outputs, H> const& r) {
        if constexpr (Sequences) {
            return r.outputs;
        } else {
            return state_of(r.last);
        }
    }
    template <class S>
    static constexpr symbol<S> state_of(symbol<S> h) {
        return h;
    }
    template <class H, class... More>
    static constexpr H state_of(std::tuple<H, More...> const& all) {
        return std::get<0>(all);
    }

    template <size_t Layer, bool Reverse, Shape S, class... Initial>
    constexpr auto one_layer(time_steps<S> x, Initial... initial) const {
        constexpr size_t wide = Cell::gates * Units;
        constexpr auto const& names = detail::names_of_recurrent<Layer, Reverse>;
        constexpr initializer start = random_uniform(1 / constant_square_root(Units));
        ir::graph& g = *x.values.g;
        auto const kernel = new_parameter<shape<wide, channels_of<S>>>(g, names.weight_ih,
                                                                       {role::dense_weight, start});
        auto const back =
            new_parameter<shape<wide, Units>>(g, names.weight_hh, {role::dense_weight, start});
        auto projected = matmul(x.values, kernel);
        symbol<shape<wide>> shift{};
        if (has_bias) {
            projected =
                projected + new_parameter<shape<wide>>(g, names.bias_ih, {role::vector, start});
            shift = new_parameter<shape<wide>>(g, names.bias_hh, {role::vector, start});
        }
        symbol<shape<Units>> mask{};
        if (detail::drops(g, static_cast<double>(recurrent))) {
            // (stored, since what a step reads from outside and draws itself is new in each)
            mask = bernoulli<shape<Units>>(g, 1.0 - static_cast<double>(recurrent)) + 0;
        }
        auto const cell = [&](auto x_t, auto h, auto... more) {
            auto state = matmul(mask.g ? h * mask : h, back);
            if (shift.g) {
                state = state + shift;
            }
            return Cell::template step<Units>(x_t, state, h, more...);
        };
        time_steps<typename decltype(projected)::shape_type> const steps{projected, x.backward,
                                                                         x.lengths};
        if constexpr (sizeof...(Initial) > 0) {
            return scan(steps, initial..., cell);
        } else if constexpr (Cell::carries == 1) {
            return scan(steps, shape<Units>{}, cell);
        } else {
            return scan(steps, shape<Units>{}, shape<Units>{}, cell);
        }
    }
};

template <size_t Units>
inline constexpr recurrent_layer<rnn_cell<tanh>, Units> rnn{};
// With relu in place of tanh (PyTorch's nonlinearity="relu").
template <size_t Units>
inline constexpr recurrent_layer<rnn_cell<relu>, Units> relu_rnn{};
template <size_t Units>
inline constexpr recurrent_layer<gru_cell, Units> gru{};
template <size_t Units>
inline constexpr recurrent_layer<lstm_cell, Units> lstm{};

// A class, so that every compiler prints the type.
template <class Layer>
struct runs_in_both_directions {
    static constexpr bool checked = requires(Layer const& layer) { layer.bidirectional(); };
    static_assert(checked, "castnet: bidirectional takes a recurrent layer, such as lstm<64>; see "
                           "runs_in_both_directions<layer>");
};

namespace detail {

template <class Layer>
constexpr auto in_both_directions(Layer const& layer) {
    if constexpr (runs_in_both_directions<Layer>::checked) {
        return layer.bidirectional();
    } else {
        return layer; // so that no other errors follow
    }
}

} // namespace detail

// A recurrent layer in both directions: bidirectional<lstm<64>>.
template <auto Layer>
inline constexpr auto bidirectional = detail::in_both_directions(Layer);

} // namespace castnet
