// Frozen layers, which keep their parameters: frozen<layers…>.
#pragma once

#include <castnet/nn/chain.hpp>
#include <castnet/nn/layer_with_state.hpp>
#include <castnet/nn/time_steps.hpp>

#include <type_traits>

namespace castnet {

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

} // namespace castnet
