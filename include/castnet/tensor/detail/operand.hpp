// Operand of an element-wise function as the loops read it: a number or a tensor expression X, seen
// in the shape S of the result.
#pragma once

#include <castnet/tensor/broadcast.hpp>
#include <castnet/tensor/tensor_base.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// std::apply, but inline: a call that a compiler leaves in a loop keeps it from being vectorized.
template <class F, class... X>
CASTNET_ALWAYS_INLINE decltype(auto) apply_inline(F const& f, std::tuple<X...> const& x) {
    return [&]<size_t... I>(std::index_sequence<I...>)
               __attribute__((always_inline)) -> decltype(auto) {
                   return f(std::get<I>(x)...);
               }(std::index_sequence_for<X...>{});
}

// Whether element i of the result, counted in memory order, needs just x.flat(i) (or x.flat(0)).
template <class X, class S>
constexpr bool is_flat_over() {
    if constexpr (Number<X>) {
        return true;
    } else {
        constexpr size_t count = X::shape_type::count;
        return X::is_flat && (count == S::count || count == 1);
    }
}

// Whether all that is read for a row of the result lies in rows.
template <class X>
constexpr bool is_along_rows() {
    if constexpr (Number<X>) {
        return true;
    } else {
        return X::is_along_rows;
    }
}

// An element; a bool as the lowest bit of a byte, since g++ makes no vectors of `one == false`.
template <class T>
CASTNET_ALWAYS_INLINE auto read_element(T const& x) {
    if constexpr (std::is_same_v<T, bool>) {
        return static_cast<unsigned char>(reinterpret_cast<unsigned char const&>(x) & 1U);
    } else {
        return x;
    }
}

template <class S, class X>
CASTNET_ALWAYS_INLINE auto flat_element(X const& x, size_t i) {
    if constexpr (Number<X>) {
        return x;
    } else {
        return read_element(x.flat(X::shape_type::count == S::count ? i : 0));
    }
}

template <class X, size_t... Axis>
CASTNET_ALWAYS_INLINE auto element_at(X const& x, size_t const* index,
                                      std::index_sequence<Axis...>) {
    return read_element(x.element((X::shape_type::extent[Axis] == 1 ? 0 : index[Axis])...));
}

// The element of x at an index of the result.
template <class X, class... Index>
CASTNET_ALWAYS_INLINE auto broadcast_element(X const& x, Index... index) {
    if constexpr (Number<X>) {
        return x;
    } else {
        constexpr size_t rank = X::shape_type::rank;
        size_t const all[] = {index..., 0};
        return element_at(x, all + (sizeof...(Index) - rank), std::make_index_sequence<rank>{});
    }
}

// Whether writing to a view, element by element in order, would change elements that x still needs.
template <class X, class View>
CASTNET_ALWAYS_INLINE bool is_disturbed_by(X const& x, View const& written) {
    if constexpr (Number<X>) {
        return false;
    } else {
        return x.is_disturbed_by(written);
    }
}

// Whether an operand is in memory, a number, or computed of such by few cheap functions.
template <class X>
inline constexpr bool is_cheap_operand = true;
template <class X>
    requires requires { X::is_cheap; }
inline constexpr bool is_cheap_operand<X> = X::is_cheap;

// Whether an operand's elements lie in memory.
template <class X>
inline constexpr bool has_elements = requires(X const& x) { x.data(); };

// What it costs to compute an element.
enum class element_cost : std::uint8_t { none, low, high };
template <class X>
inline constexpr element_cost cost_of = has_elements<X>       ? element_cost::none
                                        : is_cheap_operand<X> ? element_cost::low
                                                              : element_cost::high;

} // namespace castnet::detail
