// Floating-point elements of a stored tensor in a type that holds all their values exactly.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/io/elements.hpp>
#include <castnet/io/stored_tensor.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <vector>

namespace castnet::io {

namespace detail {

template <class Bits, class T, class Convert>
std::vector<T> converted(stored_tensor const& t, Convert const& convert) {
    std::vector<T> values(t.bytes.size() / sizeof(Bits));
    for (size_t i = 0; i < values.size(); ++i) {
        Bits bits;
        std::memcpy(&bits, t.bytes.data() + i * sizeof(Bits), sizeof(Bits));
        values[i] = T(convert(bits));
    }
    return values;
}

} // namespace detail

// Whether T holds every value of `type`, T's own among them.
template <std::floating_point T>
constexpr bool widens_to(dtype type) {
    return type == dtype::f16 || type == dtype::bf16 || type == dtype::f32 || type == dtype_of<T>;
}

// The elements of a tensor whose type widens_to<T>.
template <std::floating_point T>
[[gnu::noinline]] std::vector<T> widened(stored_tensor const& t) {
    switch (t.type) {
    case dtype::f16:
        return detail::converted<std::uint16_t, T>(t, detail::float_of_half);
    case dtype::bf16:
        return detail::converted<bfloat16, T>(t, [](bfloat16 x) { return float(x); });
    case dtype::f32:
        return detail::converted<float, T>(t, [](float x) { return x; });
    default:
        return detail::converted<T, T>(t, [](T x) { return x; });
    }
}

} // namespace castnet::io
