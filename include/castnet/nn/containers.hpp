// Layers made of layers. Layers are values: block<conv2d<64, 3>, relu> is a layer like any other.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/nn/scope.hpp>

#include <utility>

namespace castnet {

// One layer at its position; its name in a compiler's output says which layer failed.
template <size_t Position, class Layer>
struct at_layer {
    Layer const& layer;

    constexpr auto operator()(Symbol auto x) const {
        scope_guard const scope{*x.g, static_cast<int>(Position)};
        return layer(x);
    }
};

namespace detail {

template <size_t Position, class Layer>
constexpr at_layer<Position, Layer> placed(Layer const& layer) {
    return {layer};
}

template <auto... Layers, Symbol X, size_t... Position>
constexpr auto chain(X x, std::index_sequence<Position...>) {
    return (x | ... | placed<Position>(Layers));
}
template <auto... Layers, Symbol X>
constexpr auto chain(X x) {
    return chain<Layers...>(x, std::make_index_sequence<sizeof...(Layers)>{});
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

// x + block(x): He et al. 2016, without the last activation.
template <auto... Layers>
struct residual_layer {
    static constexpr char const* name = "residual";
    constexpr auto operator()(Symbol auto x) const { return x + block<Layers...>(x); }
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

// Gives a layer a name of its own: named<"stem", conv2d<64, 7>> has "stem.weight".
template <fixed_string Name, auto Layer>
struct named_layer {
    static constexpr char const* name = Name.text;
    constexpr auto operator()(Symbol auto... x) const {
        graph& g = *detail::graph_of(x...);
        scope_guard const scope{g, Name.text};
        if (g.path.sharing == 0) {
            for (path const& other : g.path.named) {
                if (other == g.path.prefix) {
                    throw "castnet: two layers are named<...> alike in the same place";
                }
            }
            g.path.named.push(g.path.prefix);
        }
        return Layer(x...);
    }
};
template <fixed_string Name, auto Layer>
inline constexpr named_layer<Name, Layer> named{};

// A layer that may be applied several times with the same parameters, "encoder.weight" wherever it
// stands: the name is the identity.
template <fixed_string Name, auto Layer>
struct shared_layer {
    static constexpr char const* name = Name.text;
    constexpr auto operator()(Symbol auto... x) const {
        graph& g = *detail::graph_of(x...);
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
        auto const y = named<Name, Layer>(x...);
        g.path.sharing -= known;
        g.path.prefix = outer;
        return y;
    }
};
template <fixed_string Name, auto Layer>
inline constexpr shared_layer<Name, Layer> shared{};

namespace detail {

// Several layers as a block, one as itself.
template <auto... Layers>
constexpr auto together(Symbol auto... x) {
    if constexpr (sizeof...(Layers) == 1) {
        return (Layers(x...), ...);
    } else {
        return block<Layers...>(x...);
    }
}

} // namespace detail

// Parameters keep their values; batch_norm uses its running statistics. There is no gradient, no
// optimizer state and no saved activation for what is frozen.
template <auto... Layers>
struct frozen_layer {
    static constexpr char const* name = "frozen";
    constexpr auto operator()(Symbol auto x) const {
        x.g->path.frozen += 1;
        auto const y = detail::together<Layers...>(x);
        x.g->path.frozen -= 1;
        return y;
    }
};
template <auto... Layers>
inline constexpr frozen_layer<Layers...> frozen{};

// Places layers on a device of the policy (policy::model_parallel<Where, N>), numbered from 0:
// Keras' tf.device, PyTorch's .to("cuda:1"). They are computed there, forward and backward; a
// parameter lies where it is first used, with its gradient and the optimizer's state. Layers that
// no on<…> stands around are on device 0, a loss is where the network's first output is. On a
// policy with a single device, everything is there. Names of parameters are those without it: on<1,
// dense<2>> is dense<2>, several layers are block<layers…>.
template <size_t Device, auto... Layers>
struct on_layer {
    static constexpr char const* name = "on";
    constexpr auto operator()(Symbol auto... x) const {
        graph& g = *detail::graph_of(x...);
        int const number = static_cast<int>(Device);
        int const outer = std::exchange(g.device, number);
        g.devices = g.devices > number ? g.devices : number + 1;
        auto const y = detail::together<Layers...>(x...);
        g.device = outer;
        return y;
    }
};
template <size_t Device, auto... Layers>
inline constexpr on_layer<Device, Layers...> on{};

} // namespace castnet
