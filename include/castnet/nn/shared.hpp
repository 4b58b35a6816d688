// Layer with shared parameters: shared<"encoder", dense<64>>.
#pragma once

#include <castnet/nn/named.hpp>

namespace castnet {

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

} // namespace castnet
