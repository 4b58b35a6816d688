// bfloat16: the upper half of a float (8 bits of precision), as a format to keep or send numbers
// in.
#pragma once

#include <bit>
#include <cstdint>

namespace castnet {

class bfloat16 {
public:
    bfloat16() = default;
    // Rounds to the nearest, of two to the even one.
    constexpr explicit bfloat16(float x) {
        auto const bits = std::bit_cast<std::uint32_t>(x);
        std::uint32_t const odd = bits >> 16 & 1;
        bits_ = static_cast<std::uint16_t>(x == x ? (bits + 0x7FFF + odd) >> 16 : 0x7FC0);
    }
    constexpr explicit operator float() const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
    }

    constexpr bfloat16& operator+=(bfloat16 other) {
        return *this = bfloat16{static_cast<float>(*this) + static_cast<float>(other)};
    }
    friend bool operator==(bfloat16, bfloat16) = default; // of the bits

private:
    std::uint16_t bits_ = 0;
};

} // namespace castnet
