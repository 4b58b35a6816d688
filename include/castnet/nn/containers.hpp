// Container layers: block, residual, named, shared, frozen, on. Layers are values, so
// block<conv2d<64, 3>, relu> is a layer like any other.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/nn/scope.hpp>
#include <castnet/nn/time_steps.hpp>

#include <utility>

namespace castnet {

// Number of positions that a layer takes in a chain: one, unless it is transparent (frozen, on);
// then the layers in it are numbered as if they were in the chain themselves.
template <class Layer>
inline constexpr size_t positions_of = 1;
template <class Layer>
concept TransparentLayer = requires { Layer::transparent; };

// Named layers have their name in place of a position. (nvcc 13.0 does not match a specialisation
// of a variable for them.)
template <class Layer>
concept NamedLayer = requires { Layer::in_place_of_position; };

template <class Layer, class Result>
struct layer_returns { // a class, so that every compiler prints the types
    static constexpr bool checked = std::is_class_v<Result>;
    static_assert(checked, "castnet: a layer returns what it computes, a symbol such as x * 2, and "
                           "nothing else; see layer_returns<layer, result>");
};

// One layer at its position; its name in a compiler's output says which layer failed.
template <size_t Position, class Layer>
struct at_layer {
    Layer const& layer;

    template <Symbol X, class... More>
    constexpr auto operator()(X x, More const&... more) const {
        if constexpr (TransparentLayer<Layer>) {
            return layer.template from<Position>(x, more...);
        } else if constexpr (NamedLayer<Layer>) {
            return layer(x, more...);
        } else {
            scope_guard const scope{*x.g, static_cast<int>(Position)};
            if constexpr (requires { layer(x, more...); }) {
                if constexpr (layer_returns<Layer, decltype(layer(x, more...))>::checked) {
                    auto const y = layer(x, more...);
                    if constexpr (requires { y.id; }) {
                        x.g->path.list_layer(y.id);
                    }
                    return y;
                } else {
                    return x;
                }
            } else {
                return x | layer; // reports the error
            }
        }
    }
};
template <size_t Position, class Layer>
inline constexpr bool is_placed<at_layer<Position, Layer>> = true;

namespace detail {

// First positions of layers that take the given numbers of positions.
template <size_t Count>
struct positions {
    size_t of[Count + 1]{};

    template <class... Taken>
    constexpr explicit positions(size_t first, Taken... taken) {
        size_t i = 0;
        of[0] = first;
        (..., void((of[i + 1] = of[i] + taken, ++i)));
    }
};
template <size_t First, auto... Layers>
inline constexpr positions<sizeof...(Layers)> positions_from{
    First, positions_of<std::remove_cvref_t<decltype(Layers)>>...};

template <size_t Position, class Layer>
constexpr at_layer<Position, Layer> placed(Layer const& layer) {
    return {layer};
}

template <size_t First, auto... Layers, Symbol X, size_t... I>
constexpr auto chain_from(X x, std::index_sequence<I...>) {
    return (x | ... | placed<positions_from<First, Layers...>.of[I]>(Layers));
}
// The layers one after the other, numbered from First on.
template <size_t First, auto... Layers, Symbol X>
constexpr auto chain_from(X x) {
    return chain_from<First, Layers...>(x, std::make_index_sequence<sizeof...(Layers)>{});
}
template <auto... Layers, Symbol X>
constexpr auto chain(X x) {
    return chain_from<0, Layers...>(x, std::make_index_sequence<sizeof...(Layers)>{});
}

} // namespace detail

// One layer after the other. Parameters are named by position: "0.weight", "2.0.bias".
template <auto... Layers>
struct block_layer {
    static constexpr char const* name = "block";
    constexpr auto operator()(Symbol auto x) const {
        if constexpr (sizeof...(Layers) == 0) {
            return x;
        } else {
            scope_guard const scope{*x.g, layer_kind{"block"}};
            return detail::chain<Layers...>(x);
        }
    }
};
template <auto... Layers>
inline constexpr block_layer<Layers...> block{};

template <class Input, class Output>
struct residual_keeps_shape {
    static_assert(shapes_agree<Input, Output>,
                  "castnet: residual: its layers change the shape, so their result cannot be added "
                  "to the input; use cn::projected_residual, whose first layer brings the input "
                  "into that shape, too; see residual_keeps_shape<input, output>");
    static constexpr bool checked = true;
};

// x + block(x): He et al. 2016, without the last activation.
template <auto... Layers>
struct residual_layer {
    static constexpr char const* name = "residual";
    constexpr auto operator()(Symbol auto x) const {
        auto const y = block<Layers...>(x);
        using input = typename decltype(x)::shape_type;
        using output = typename std::remove_cvref_t<decltype(y)>::shape_type;
        static_assert(residual_keeps_shape<input, output>::checked);
        if constexpr (shapes_agree<input, output>) {
            return x + y;
        } else {
            return y;
        }
    }
};
template <auto... Layers>
inline constexpr residual_layer<Layers...> residual{};

// shortcut(x) + block(x), where the block changes the shape.
template <auto Shortcut, auto... Layers>
struct projected_residual_layer {
    static constexpr char const* name = "residual";
    constexpr auto operator()(Symbol auto x) const {
        scope_guard const scope{*x.g, layer_kind{"residual"}};
        auto const by = [&] {
            scope_guard const shortcut{*x.g, "shortcut"};
            return Shortcut(x);
        }();
        return by + detail::chain<Layers...>(x);
    }
};
template <auto Shortcut, auto... Layers>
inline constexpr projected_residual_layer<Shortcut, Layers...> projected_residual{};

namespace detail {

// A layer's function with_state as a layer, so that containers have it, too.
template <auto Layer>
struct layer_with_state {
    template <LayerInput X, class... Initial>
    constexpr auto operator()(X x, Initial... initial) const {
        constexpr bool has_state = requires { Layer.with_state(x, initial...); };
        static_assert(has_state, "castnet: with_state(x, h) is for a layer that has a state: rnn, "
                                 "gru or lstm, also in named, shared, frozen or on");
        if constexpr (has_state) {
            return Layer.with_state(x, initial...);
        } else {
            return x; // so that few other errors follow
        }
    }
};
template <auto Layer>
inline constexpr layer_with_state<Layer> with_state_of{};

// Where named<"name"> or shared<"name"> has no layer.
struct no_layer {};

} // namespace detail

// A class, so that every compiler prints its arguments.
template <fixed_string Name, class Given>
struct layer_stands_beside_name {
    static_assert(detail::never<Given>,
                  "castnet: the layer stands beside its name: named<\"name\", dense<4>>, "
                  "shared<\"name\", dense<4>>; see layer_stands_beside_name<name, what was given>");
};

// A layer with a fixed name in place of its position in a chain or its number in a function:
// named<"stem", conv2d<64, 7>> has "stem.weight", as add_module() or OrderedDict name it in
// PyTorch.
template <fixed_string Name, auto Layer>
struct named_layer {
    static constexpr char const* name = Name.text;
    static constexpr bool in_place_of_position = true;
    static_assert(!Name.view().empty(),
                  "castnet: named<name, layer>, shared<name, layer>: the name "
                  "is empty");

    template <LayerInput X, class... More>
    constexpr auto operator()(X x, More const&... more) const {
        ir::graph& g = *detail::steps_of(x).values.g;
        scope_guard const scope{g, Name.text};
        auto const y = Layer(x, more...);
        if constexpr (requires { y.id; }) {
            g.path.list_layer(y.id);
        }
        return y;
    }
    // Only for its message.
    template <class Given>
        requires(!LayerInput<Given>)
    constexpr Given operator()(Given given) const {
        void(layer_stands_beside_name<Name, Given>{});
        return given;
    }
    // That of a recurrent layer (nn/recurrent.hpp); so below.
    template <LayerInput X, class... Initial>
    constexpr auto with_state(X x, Initial... initial) const {
        return named_layer<Name, detail::with_state_of<Layer>>{}(x, initial...);
    }
};
template <fixed_string Name, auto Layer = detail::no_layer{}>
inline constexpr named_layer<Name, Layer> named{};

// A layer that can be applied several times with the same parameters, "encoder.weight" everywhere:
// layers of the same name are the same layer.
template <fixed_string Name, auto Layer>
struct shared_layer {
    static constexpr char const* name = Name.text;
    static constexpr bool in_place_of_position = true;

    template <LayerInput X, class... More>
    constexpr auto operator()(X x, More const&... more) const {
        ir::graph& g = *detail::steps_of(x).values.g;
        if (g.repeat >= 0) {
            g.report(mistake::repeated_block_shares);
        }
        path const outer = g.path.prefix;
        g.path.prefix.depth = 0;
        bool known = false;
        for (char const* other : g.path.shared) {
            known = known || Name.view() == other;
        }
        if (!known) {
            g.path.shared.push(Name.text);
        }
        g.path.sharing += known;
        auto const y = named<Name, Layer>(x, more...);
        g.path.sharing -= known;
        g.path.prefix = outer;
        return y;
    }
    // Only for its message.
    template <class Given>
        requires(!LayerInput<Given>)
    constexpr Given operator()(Given given) const {
        void(layer_stands_beside_name<Name, Given>{});
        return given;
    }
    template <LayerInput X, class... Initial>
    constexpr auto with_state(X x, Initial... initial) const {
        return shared_layer<Name, detail::with_state_of<Layer>>{}(x, initial...);
    }
};
template <fixed_string Name, auto Layer = detail::no_layer{}>
inline constexpr shared_layer<Name, Layer> shared{};

namespace detail {

// Several layers as a block; a single one unchanged.
template <auto... Layers>
constexpr auto together(auto const&... x) {
    if constexpr (sizeof...(Layers) == 1) {
        return (Layers(x...), ...);
    } else {
        return block<Layers...>(x...);
    }
}

} // namespace detail

// Layers that are not trained: parameters keep their values, and all else is as in evaluation:
// batch_norm uses its running statistics, and dropout and noise do nothing. Frozen layers have no
// gradients, no optimizer state and no saved activations. No name changes: in a chain, the layers
// are numbered as before they were frozen; elsewhere, several layers are block<layers…>. Where a
// shared<…> is applied frozen and also trained, its parameters learn by the latter alone.
template <auto... Layers>
struct frozen_layer {
    static constexpr char const* name = "frozen";
    static constexpr bool transparent = true;

    template <LayerInput X, class... More>
    constexpr auto operator()(X x, More const&... more) const {
        return freeze(*detail::steps_of(x).values.g,
                      [&] { return detail::together<Layers...>(x, more...); });
    }
    template <size_t First>
    constexpr auto from(Symbol auto x) const {
        return freeze(*x.g, [&] { return detail::chain_from<First, Layers...>(x); });
    }
    template <LayerInput X, class... Initial>
    constexpr auto with_state(X x, Initial... initial) const {
        return frozen_layer<detail::with_state_of<Layers>...>{}(x, initial...);
    }

private:
    template <class F>
    static constexpr auto freeze(ir::graph& g, F const& layers) {
        g.path.frozen += 1;
        auto const y = layers();
        g.path.frozen -= 1;
        return y;
    }
};
template <auto... Layers>
inline constexpr size_t positions_of<frozen_layer<Layers...>> =
    (positions_of<std::remove_cvref_t<decltype(Layers)>> + ... + 0);
template <auto... Layers>
inline constexpr frozen_layer<Layers...> frozen{};

// Layers on a device of the policy (policy::model_parallel<Where, N>), numbered from 0: Keras'
// tf.device, PyTorch's .to("cuda:1"). They are computed there, forward and backward; a parameter is
// stored where it is first used, with its gradient and the optimizer's state. Layers outside every
// on<…> are on device 0, a loss is computed where the network's first output is. A policy with a
// single device computes everything there. Like frozen<…>, it changes no names of parameters.
template <size_t Device, auto... Layers>
struct on_layer {
    static constexpr char const* name = "on";
    static constexpr bool transparent = true;

    template <LayerInput X, class... More>
    constexpr auto operator()(X x, More const&... more) const {
        return place(*detail::steps_of(x).values.g,
                     [&] { return detail::together<Layers...>(x, more...); });
    }
    template <size_t First>
    constexpr auto from(Symbol auto x) const {
        return place(*x.g, [&] { return detail::chain_from<First, Layers...>(x); });
    }
    template <LayerInput X, class... Initial>
    constexpr auto with_state(X x, Initial... initial) const {
        return on_layer<Device, detail::with_state_of<Layers>...>{}(x, initial...);
    }

private:
    template <class F>
    static constexpr auto place(ir::graph& g, F const& layers) {
        int const number = static_cast<int>(Device);
        int const outer = std::exchange(g.device, number);
        g.devices = g.devices > number ? g.devices : number + 1;
        auto const y = layers();
        g.device = outer;
        return y;
    }
};
template <size_t Device, auto... Layers>
inline constexpr size_t positions_of<on_layer<Device, Layers...>> =
    (positions_of<std::remove_cvref_t<decltype(Layers)>> + ... + 0);
template <size_t Device, auto... Layers>
inline constexpr on_layer<Device, Layers...> on{};

} // namespace castnet
