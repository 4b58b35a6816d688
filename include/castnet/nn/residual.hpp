// Residual connections: residual<layers…>, projected_residual<shortcut, layers…>.
#pragma once

#include <castnet/nn/chain.hpp>

#include <type_traits>

namespace castnet {

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

} // namespace castnet
