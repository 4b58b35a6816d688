// Epilogue of a launch as the end of tiles: a bias, alone or with one of the rectifiers.
#pragma once

#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/epilogue.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

constexpr bool is_tile_end(epilogue const& e) {
    bool const rectifies = e.activation == fn::relu || e.activation == fn::relu6;
    return !e.bias_gradient && (!e.activates || rectifies);
}

template <class T>
tile_end<T> tile_end_of(kernel_launch const& s, tables const& t, context<T> const& c) {
    tile_end<T> end{.bias = bias_of(s, t, c), .rectifies = s.end.activates};
    if (s.end.activation == fn::relu6) {
        end.most = T(6);
    }
    return end;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
