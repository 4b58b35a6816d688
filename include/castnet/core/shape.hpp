// shape<D...>: the extents of a tensor as a type.
//
// For one sample of an image the axes are channels, height, width; for a sequence time, features;
// for a vector features. The batch is never part of a network's shapes.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <type_traits>

namespace castnet {

using std::size_t;

template <size_t... D>
struct shape {
    static constexpr size_t rank = sizeof...(D);
    // (One for each 0, so that this mistake is one error.)
    static constexpr size_t count = ((D > 0 ? D : 1) * ... * size_t{1}); // number of elements
    static constexpr size_t extent[rank > 0 ? rank : 1] = {(D > 0 ? D : 1)...}; // extent[axis]

    static_assert(((D > 0) && ...), "castnet: every extent of a shape must be at least 1");
};

namespace detail {

// False, for a static_assert in a template that must not be instantiated.
template <class...>
inline constexpr bool never = false;

} // namespace detail

template <class T>
inline constexpr bool is_shape = false;
template <size_t... D>
inline constexpr bool is_shape<shape<D...>> = true;

template <class T>
concept Shape = is_shape<T>;

template <std::size_t Parts, std::size_t Extent>
inline constexpr bool parts_divide = Parts > 0 && Extent % (Parts > 0 ? Parts : 1) == 0;

} // namespace castnet
