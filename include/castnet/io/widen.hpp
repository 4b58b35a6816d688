// Floating-point elements of a stored tensor in a type that holds all their values exactly.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/io/detail/elements.hpp>
#include <castnet/io/stored_tensor.hpp>

#include <concepts>
#include <cstdint>
#include <vector>

namespace castnet::io {

// Whether T holds every value of `type`, T's own among them.
template <std::floating_point T>
constexpr bool widens_to(dtype type) {
    return type == dtype::f16 || type == dtype::bf16 || type == dtype::f32 || type == dtype_of<T>;
}

// The elements of a tensor whose type widens_to<T>.
template <std::floating_point T>
[[gnu::noinline]] std::vector<T> widened(stored_tensor const& t) {
    constexpr char const* call = "widened";
    switch (t.type) {
    case dtype::f16:
        return detail::elements_from<T, std::uint16_t>(call, t.name, t.bytes,
                                                       detail::float_of_half);
    case dtype::bf16:
        return detail::elements_from<T, bfloat16>(call, t.name, t.bytes,
                                                  [](bfloat16 x) { return float(x); });
    case dtype::f32:
        return detail::elements_from<T, float>(call, t.name, t.bytes);
    default:
        return detail::elements_from<T, T>(call, t.name, t.bytes);
    }
}

} // namespace castnet::io
