// Layers on a device of several: on<device, layers…>.
#pragma once

#include <castnet/nn/chain.hpp>
#include <castnet/nn/layer_with_state.hpp>
#include <castnet/nn/time_steps.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

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
