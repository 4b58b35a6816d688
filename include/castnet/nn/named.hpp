// Layer with a name: named<"stem", conv2d<64, 7>>.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/nn/layer_with_state.hpp>
#include <castnet/nn/scope.hpp>
#include <castnet/nn/time_steps.hpp>

namespace castnet {

namespace detail {

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
    // That of a recurrent layer (nn/recurrent.hpp), as containers have it.
    template <LayerInput X, class... Initial>
    constexpr auto with_state(X x, Initial... initial) const {
        return named_layer<Name, detail::with_state_of<Layer>>{}(x, initial...);
    }
};
template <fixed_string Name, auto Layer = detail::no_layer{}>
inline constexpr named_layer<Name, Layer> named{};

} // namespace castnet
