// CRC-32 checksums: CRC-32C (Castagnoli) of TFRecord files and packed samples, and that of ZIP.
#pragma once

#include <castnet/core/language.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace castnet::io {

namespace detail {

// Effect of a byte on the checksum, by the number of bytes after it: eight are taken at once.
template <std::uint32_t Polynomial> // reflected
inline constexpr auto crc32_tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = value >> 1 ^ (value % 2 != 0 ? Polynomial : 0U);
        }
        tables[0][i] = value;
    }
    for (std::size_t behind = 1; behind < 8; ++behind) {
        for (std::size_t i = 0; i < 256; ++i) {
            std::uint32_t const before = tables[behind - 1][i];
            tables[behind][i] = before >> 8 ^ tables[0][before % 256];
        }
    }
    return tables;
}();

template <std::uint32_t Polynomial>
constexpr std::uint32_t crc32_of(std::span<unsigned char const> data, std::uint32_t before) {
    auto const& tables = crc32_tables<Polynomial>;
    std::uint32_t crc = ~before;
    std::size_t at = 0;
    for (; data.size() - at >= 8; at += 8) {
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            std::uint32_t const byte = i < 4 ? data[at + i] ^ (crc >> 8 * i & 255) : data[at + i];
            next ^= tables[7 - i][byte];
        }
        crc = next;
    }
    for (; at < data.size(); ++at) {
        crc = crc >> 8 ^ tables[0][(crc ^ data[at]) % 256];
    }
    return ~crc;
}

} // namespace detail

// `before`: the checksum of the bytes before these.
constexpr std::uint32_t crc32c(std::span<unsigned char const> data, std::uint32_t before = 0) {
    return detail::crc32_of<0x82F63B78>(data, before);
}

// That of ZIP, gzip and PNG.
constexpr std::uint32_t crc32(std::span<unsigned char const> data, std::uint32_t before = 0) {
    return detail::crc32_of<0xEDB88320>(data, before);
}

} // namespace castnet::io
