// CRC-32 checksums: CRC-32C (Castagnoli) of TFRecord files and packed samples, and that of ZIP.
#pragma once

#include <castnet/core/language.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace castnet::io {

namespace detail {

using crc32_tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Effect of a byte on the checksum, by the number of bytes after it: eight are taken at once. The
// polynomial is reflected. (Made when they are needed: compilers would take tens of MiB to do so.)
[[gnu::noinline]] inline crc32_tables make_crc32_tables(std::uint32_t polynomial) {
    crc32_tables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = value >> 1 ^ (value % 2 != 0 ? polynomial : 0U);
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
}

// Four bytes, which compilers load at once.
inline std::uint32_t crc32_word(unsigned char const* from) {
    return from[0] | std::uint32_t{from[1]} << 8 | std::uint32_t{from[2]} << 16 |
           std::uint32_t{from[3]} << 24;
}

[[gnu::noinline]] inline std::uint32_t crc32_of(std::span<unsigned char const> data,
                                                std::uint32_t before, crc32_tables const& tables) {
    std::uint32_t crc = ~before;
    std::size_t at = 0;
    for (; data.size() - at >= 8; at += 8) {
        std::uint32_t const low = crc ^ crc32_word(&data[at]), high = crc32_word(&data[at + 4]);
        crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
              tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
              tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
    }
    for (; at < data.size(); ++at) {
        crc = crc >> 8 ^ tables[0][(crc ^ data[at]) % 256];
    }
    return ~crc;
}

} // namespace detail

// `before`: the checksum of the bytes before these.
inline std::uint32_t crc32c(std::span<unsigned char const> data, std::uint32_t before = 0) {
    static auto const tables = detail::make_crc32_tables(0x82F63B78);
    return detail::crc32_of(data, before, tables);
}

// That of ZIP, gzip and PNG.
inline std::uint32_t crc32(std::span<unsigned char const> data, std::uint32_t before = 0) {
    static auto const tables = detail::make_crc32_tables(0xEDB88320);
    return detail::crc32_of(data, before, tables);
}

} // namespace castnet::io
