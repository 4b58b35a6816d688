// Arrays of random numbers for timing: a GPU is faster with zeros.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/cuda/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace castnet::cuda {

// Bits of 8 / bytes random numbers with absolute values in [1, 2): double (8 bytes), float (4) or
// bfloat16 (2).
constexpr std::uint64_t noise_bits(std::uint64_t random, int bytes) {
    switch (bytes) {
    case 8:
        return (random & 0x800f'ffff'ffff'ffffU) | 0x3ff0'0000'0000'0000U;
    case 4:
        return (random & 0x807f'ffff'807f'ffffU) | 0x3f80'0000'3f80'0000U;
    default:
        return (random & 0x807f'807f'807f'807fU) | 0x3f80'3f80'3f80'3f80U;
    }
}

// Memory with `count` random numbers of `bytes` bytes, filled on the stream. Throws out_of_memory
// if the GPU has too little.
inline memory noise(std::int64_t count, int bytes, stream const& s) {
    constexpr std::size_t piece = std::size_t{1} << 18;
    memory all(static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes),
               "an array to time algorithms on");
    if (count == 0) {
        return all;
    }
    std::vector<std::uint64_t> bits((std::min(all.bytes(), piece) + 7) / 8);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        auto const r = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, key_of(0));
        bits[i] = noise_bits(std::uint64_t{r.x0} << 32 | r.x1, bytes);
    }
    std::size_t done = std::min(all.bytes(), piece);
    CASTNET_CUDA(
        cudaMemcpyAsync(all.as<char>(), bits.data(), done, cudaMemcpyHostToDevice, s.get()));
    s.wait();                               // the copy may read `bits` until then
    for (; done < all.bytes(); done *= 2) { // by doubling
        CASTNET_CUDA(cudaMemcpyAsync(all.as<char>() + done, all.as<char>(),
                                     std::min(done, all.bytes() - done), cudaMemcpyDeviceToDevice,
                                     s.get()));
    }
    return all;
}

} // namespace castnet::cuda
