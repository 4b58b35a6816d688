// Array of the winners of max pooling: which pixel of each window is the largest.
#pragma once

#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/winner_bytes.hpp>

namespace castnet::cuda {

// The numbers of the windows' largest pixels: a byte each, or four where windows have more pixels
// than a byte counts.
class winners {
public:
    winners() = default; // not wanted
    CASTNET_HD winners(void* first, window const& w)
        : first_{static_cast<unsigned char*>(first)}, wide_{winner_bytes(w) > 1} {}

    CASTNET_HD explicit operator bool() const { return first_ != nullptr; }

    template <int Lanes>
    CASTNET_HD void load(std::uint32_t i, std::uint32_t (&number)[Lanes]) const {
        if (wide_) {
            load_numbers(reinterpret_cast<std::uint32_t const*>(first_) + i, number);
        } else if constexpr (Lanes % 4 != 0) {
            CASTNET_UNROLL
            for (int k = 0; k < Lanes; ++k) {
                number[k] = first_[i + std::uint32_t(k)];
            }
        } else {
            std::uint32_t four[Lanes / 4];
            load_lanes(reinterpret_cast<std::uint32_t const*>(first_ + i), four);
            CASTNET_UNROLL
            for (int k = 0; k < Lanes; ++k) {
                number[k] = four[k / 4] >> (8 * (k % 4)) & 0xffU;
            }
        }
    }
    template <int Lanes>
    CASTNET_HD void store(std::uint32_t const (&number)[Lanes], std::uint32_t i) const {
        if (wide_) {
            store_lanes(number, reinterpret_cast<std::uint32_t*>(first_) + i);
        } else if constexpr (Lanes == 1) {
            first_[i] = static_cast<unsigned char>(number[0]);
        } else {
            std::uint32_t four[Lanes / 4];
            CASTNET_UNROLL
            for (int k = 0; k < Lanes; k += 4) {
                four[k / 4] =
                    number[k] | number[k + 1] << 8 | number[k + 2] << 16 | number[k + 3] << 24;
            }
            store_lanes(four, reinterpret_cast<std::uint32_t*>(first_ + i));
        }
    }

private:
    template <int Lanes>
    CASTNET_HD static void load_numbers(std::uint32_t const* from, std::uint32_t (&number)[Lanes]) {
        if constexpr (Lanes == 1) {
            number[0] = *from;
        } else {
            load_lanes(from, number);
        }
    }

    unsigned char* first_ = nullptr;
    bool wide_ = false;
};

} // namespace castnet::cuda
