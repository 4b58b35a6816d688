// reshape<D…>: the same elements in the same logical order under another shape. One name for the
// layer in a network and the function of a tensor; graph/ and tensor/ each say what it means there.
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet {

template <class From, class To>
inline constexpr bool same_count = From::count == To::count;

template <size_t... D>
struct reshape_function {
    static constexpr char const* name = "reshape";
    template <class X>
    constexpr auto operator()(X&& x) const {
        return reshaped(static_cast<X&&>(x), shape<D...>{});
    }
};
template <size_t... D>
inline constexpr reshape_function<D...> reshape{};

} // namespace castnet
