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

// A class, so that every compiler prints the numbers.
template <std::ptrdiff_t... D>
struct reshape_extents {
    static_assert(((D >= 0) && ...),
                  "castnet: reshape<extents...> takes every extent of the result, each a number: "
                  "none is left open by -1; see reshape_extents<extents...>");
    using function = reshape_function<size_t(D < 0 ? 1 : D)...>; // one mistake is one error
};
template <std::ptrdiff_t... D>
inline constexpr typename reshape_extents<D...>::function reshape{};

} // namespace castnet
