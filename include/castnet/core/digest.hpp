// Digest of words: a number that tells sequences of them apart.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace castnet::detail {

// FNV-1a, of words instead of bytes; the shift brings their high bits to the others, too.
class digest {
public:
    constexpr void take(std::uint64_t x) {
        value_ = (value_ ^ x) * 1099511628211ULL;
        value_ ^= value_ >> 32;
    }
    constexpr std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 14695981039346656037ULL;
};

// 16 hexadecimal digits.
[[gnu::noinline]] inline std::string hexadecimal(std::uint64_t x) {
    std::string digits(16, '0');
    for (std::size_t i = digits.size(); i-- > 0; x /= 16) {
        digits[i] = "0123456789abcdef"[x % 16];
    }
    return digits;
}

} // namespace castnet::detail
