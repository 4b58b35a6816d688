// Stream of random numbers that depends only on (purpose, seed, stream): the same on every machine
// and in every run.
#pragma once

#include <castnet/core/philox.hpp>

namespace castnet::data::detail {

class random_stream {
public:
    // `purpose` separates uses of the same seed, such as the shuffling and dropout of a training.
    constexpr random_stream(std::uint32_t purpose, std::uint64_t seed, std::uint64_t stream)
        : key_{key_of(seed)}, stream_{stream} {
        key_.k1 ^= purpose;
    }

    constexpr std::uint32_t word() {
        auto const lane = static_cast<unsigned>(drawn_ % 4);
        if (lane == 0) {
            auto const block = drawn_ / 4;
            block_ = philox(
                {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                 static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                key_);
        }
        ++drawn_;
        return block_[lane];
    }

    // A whole number in 0 .. bound - 1, all equally likely; bound >= 1. Draws as many bits as
    // bound - 1 has until they are below it: at most two tries on average.
    constexpr std::uint64_t below(std::uint64_t bound) {
        std::uint64_t mask = bound - 1;
        for (unsigned shift = 1; shift < 64; shift *= 2) {
            mask |= mask >> shift;
        }
        for (;;) {
            std::uint64_t value = word();
            if (mask >> 32 != 0) {
                value = value << 32 | word();
            }
            if ((value & mask) < bound) {
                return value & mask;
            }
        }
    }

    // In [0, 1).
    constexpr double uniform() { return castnet::uniform<double>(word()); }

    // Close to the standard normal distribution: the sum of twelve uniform numbers (Irwin-Hall),
    // minus 6. Unlike methods with logarithms it is exact arithmetic, equal on every machine.
    constexpr double normal() {
        double sum = -6;
        for (int i = 0; i < 12; ++i) {
            sum += uniform();
        }
        return sum;
    }

private:
    philox_key key_;
    std::uint64_t stream_;
    std::uint64_t drawn_ = 0;
    philox_block block_{};
};

// A number from -range to range, or 0 without drawing one.
inline double symmetric(double range, random_stream& random) {
    return range == 0 ? 0 : range * (2 * random.uniform() - 1);
}

} // namespace castnet::data::detail
