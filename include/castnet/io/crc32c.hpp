// CRC-32C (Castagnoli), the checksum of TFRecord files.
#pragma once

#include <castnet/core/language.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace castnet::io {

constexpr std::uint32_t crc32c(std::span<unsigned char const> data) {
    constexpr auto table = [] {
        std::array<std::uint32_t, 256> entries{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit) {
                value =
                    value >> 1 ^ (value % 2 != 0 ? 0x82F63B78U : 0U); // the polynomial, reflected
            }
            entries[i] = value;
        }
        return entries;
    }();
    std::uint32_t crc = ~0U;
    for (unsigned char const byte : data) {
        crc = crc >> 8 ^ table[(crc ^ byte) % 256];
    }
    return ~crc;
}

} // namespace castnet::io
