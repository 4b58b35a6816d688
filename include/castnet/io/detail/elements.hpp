// Elements of a stored array, converted to numbers of one type.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/dtype.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace castnet::io::detail {

// The value of an IEEE 754 binary16 number.
constexpr float float_of_half(std::uint16_t bits) {
    std::uint32_t const sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31U,
                        fraction = bits & 0x3ffU;
    if (exponent == 0) { // subnormal: in units of 2^-24
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(float(fraction) * 0x1p-24F) |
                                    sign);
    }
    std::uint32_t const wide = exponent == 31 ? 255 : exponent + 112; // 31: infinities and NaN
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// (nvcc warns of comparisons of unsigned numbers with 0.)
template <class N>
bool is_negative(N x) {
    if constexpr (std::is_signed_v<N>) {
        return x < 0;
    } else {
        return false;
    }
}

template <class T, class From>
bool is_in_range(From x) {
    if constexpr (std::same_as<T, bool> || (std::floating_point<T> && std::integral<From>)) {
        return true;
    } else if constexpr (std::floating_point<T>) {
        return !castnet::detail::is_finite(x) ||
               std::abs(x) <=
                   static_cast<std::common_type_t<From, T>>(std::numeric_limits<T>::max());
    } else if constexpr (std::floating_point<From>) {
        double const whole = std::trunc(double{x});
        double const end = std::ldexp(1.0, std::numeric_limits<T>::digits);
        return whole >= (std::is_signed_v<T> ? -end : 0) && whole < end;
    } else {
        auto const converted = static_cast<T>(x);
        return static_cast<From>(converted) == x && is_negative(converted) == is_negative(x);
    }
}

// Whether a number that becomes a T has no fraction that is lost.
template <class T, class From>
bool is_whole_for(From x) {
    if constexpr (std::integral<T> && !std::same_as<T, bool> && std::floating_point<From>) {
        return x == std::trunc(x);
    } else {
        return true;
    }
}

[[noreturn, gnu::cold]] inline void refuse_element(char const* call, std::string const& of,
                                                   size_t i, text_piece element, char const* why) {
    throw error(
        {"castnet: ", call, of.empty() ? "" : " of ", of, ": element ", i, " is ", element, why});
}

template <class T, class From, class Value = std::identity>
std::vector<T> elements_from(char const* call, std::string const& of,
                             std::span<unsigned char const> bytes, Value value = {}) {
    std::vector<T> values(bytes.size() / sizeof(From));
    for (size_t i = 0; i < values.size(); ++i) {
        From stored;
        std::memcpy(&stored, bytes.data() + i * sizeof(From), sizeof(From));
        auto const element = value(stored);
        if (!is_in_range<T>(element)) {
            refuse_element(call, of, i, element,
                           ", beyond the range of the type that it is read as");
        }
        if (!is_whole_for<T>(element)) {
            refuse_element(call, of, i, element,
                           ", but is read as a whole number: take as<float>()");
        }
        values[i] = static_cast<T>(element);
    }
    return values;
}

// The elements as T; `call` is the function that returns them, and `of` the name of what has them.
// Throws castnet::error for one beyond the range of T, for one with a fraction where T is an
// integer, and for floats of 8 bits and complex numbers.
template <class T>
[[gnu::noinline]] std::vector<T> elements_as(char const* call, std::string const& of, dtype type,
                                             std::span<unsigned char const> bytes) {
    switch (type) {
    case dtype::boolean: // one byte, as these
    case dtype::u8:
        return elements_from<T, unsigned char>(call, of, bytes);
    case dtype::i8:
        return elements_from<T, signed char>(call, of, bytes);
    case dtype::u16:
        return elements_from<T, std::uint16_t>(call, of, bytes);
    case dtype::i16:
        return elements_from<T, std::int16_t>(call, of, bytes);
    case dtype::u32:
        return elements_from<T, std::uint32_t>(call, of, bytes);
    case dtype::i32:
        return elements_from<T, std::int32_t>(call, of, bytes);
    case dtype::u64:
        return elements_from<T, std::uint64_t>(call, of, bytes);
    case dtype::i64:
        return elements_from<T, std::int64_t>(call, of, bytes);
    case dtype::f16:
        return elements_from<T, std::uint16_t>(call, of, bytes, float_of_half);
    case dtype::bf16:
        return elements_from<T, bfloat16>(call, of, bytes, [](bfloat16 x) { return float(x); });
    case dtype::f32:
        return elements_from<T, float>(call, of, bytes);
    case dtype::f64:
        return elements_from<T, double>(call, of, bytes);
    default:
        throw error({"castnet: ", call, of.empty() ? "" : " of ", of, ": the elements are ",
                     name_of(type),
                     ", which is not converted; save them as another type, such as F32"});
    }
}

} // namespace castnet::io::detail
