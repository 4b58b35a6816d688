// Chain of layers: block<layers…>, and the positions in it, which name the layers' parameters.
// Layers are values, so block<conv2d<64, 3>, relu> is a layer like any other.
#pragma once

#include <castnet/nn/scope.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

// Number of positions that a layer takes in a chain: one, unless it is transparent (frozen, on,
// repeat); then the layers in it are numbered as if they were in the chain themselves.
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

} // namespace castnet
