// Padding of an axis: pad<0, 2, 1>(x) puts two positions of zeros before axis 0 and one after it,
// pad<0, 2, 1>(x, value) positions of a number. On a tensor it is computed at once
// (tensor/rearrange.hpp). pad<0, 2, 1> is a layer, too (nn/along_axis.hpp).
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet {

template <size_t Axis, size_t Before, size_t After>
struct pad_layer {
    static constexpr char const* name = "pad";
    template <class X, class... Value>
    constexpr auto operator()(X const& x, Value... value) const {
        return apply(*this, x, value...); // found with symbols and tensors
    }
};
template <size_t Axis, size_t Before, size_t After>
inline constexpr pad_layer<Axis, Before, After> pad{};

} // namespace castnet
