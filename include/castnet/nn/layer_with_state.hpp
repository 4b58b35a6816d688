// Layer that takes and returns the state of a recurrent layer, as containers need it.
#pragma once

#include <castnet/nn/time_steps.hpp>

namespace castnet::detail {

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

} // namespace castnet::detail
