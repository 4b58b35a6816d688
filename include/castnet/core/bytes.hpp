// Literals for sizes of memory: 512_MiB after `using namespace castnet::literals`.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet::literals {

constexpr std::size_t operator""_KiB(unsigned long long n) {
    return static_cast<std::size_t>(n) << 10;
}
constexpr std::size_t operator""_MiB(unsigned long long n) {
    return static_cast<std::size_t>(n) << 20;
}
constexpr std::size_t operator""_GiB(unsigned long long n) {
    return static_cast<std::size_t>(n) << 30;
}

} // namespace castnet::literals
