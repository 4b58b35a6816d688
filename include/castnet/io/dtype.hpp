// Element types of stored tensors, named as in the safetensors format.
#pragma once

#include <castnet/core/language.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

namespace castnet::io {

using std::size_t;

enum class dtype : unsigned char {
    boolean,
    u8,
    i8,
    f8_e5m2,
    f8_e4m3,
    f8_e8m0,
    i16,
    u16,
    f16,
    bf16,
    i32,
    u32,
    f32,
    i64,
    u64,
    f64,
    c64
};

struct dtype_info {
    dtype type;
    char const* name;
    size_t size; // bytes per element
};

// In the order of the enumeration.
inline constexpr dtype_info dtypes[] = {
    {dtype::boolean, "BOOL", 1},    {dtype::u8, "U8", 1},           {dtype::i8, "I8", 1},
    {dtype::f8_e5m2, "F8_E5M2", 1}, {dtype::f8_e4m3, "F8_E4M3", 1}, {dtype::f8_e8m0, "F8_E8M0", 1},
    {dtype::i16, "I16", 2},         {dtype::u16, "U16", 2},         {dtype::f16, "F16", 2},
    {dtype::bf16, "BF16", 2},       {dtype::i32, "I32", 4},         {dtype::u32, "U32", 4},
    {dtype::f32, "F32", 4},         {dtype::i64, "I64", 8},         {dtype::u64, "U64", 8},
    {dtype::f64, "F64", 8},         {dtype::c64, "C64", 8},
};

constexpr char const* name_of(dtype type) {
    return dtypes[static_cast<size_t>(type)].name;
}
constexpr size_t size_of(dtype type) {
    return dtypes[static_cast<size_t>(type)].size;
}

namespace detail {

inline constexpr dtype integer_dtypes[2][4] = { // [signed][log2 of the size]
    {dtype::u8, dtype::u16, dtype::u32, dtype::u64},
    {dtype::i8, dtype::i16, dtype::i32, dtype::i64}};

} // namespace detail

// The dtype of a C++ number.
template <class T>
    requires(std::integral<T> || std::same_as<T, float> || std::same_as<T, double>)
inline constexpr dtype dtype_of =
    detail::integer_dtypes[std::is_signed_v<T> ? 1 : 0][std::countr_zero(sizeof(T))];
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of<float> = dtype::f32;
template <>
inline constexpr dtype dtype_of<double> = dtype::f64;

// Bytes of an array with these extents. False when the number does not fit into size_t: extents
// come from files and may be anything.
constexpr bool byte_count(dtype type, std::span<size_t const> extents, size_t& count) {
    count = size_of(type);
    for (size_t const extent : extents) {
        if (extent != 0 && count > std::numeric_limits<size_t>::max() / extent) {
            return false;
        }
        count *= extent;
    }
    return true;
}

} // namespace castnet::io
