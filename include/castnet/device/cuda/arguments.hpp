// Step inputs as a part of a kernel's arguments, for steps that are one kernel.
#pragma once

#include <castnet/device/cuda/launch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace castnet::cuda {

// Writes the first words to the GPU's memory, before Next runs, which reads them there.
template <std::size_t Words, class Next>
struct arriving_body : Next {
    std::uint32_t* slot;
    std::uint32_t word_count;
    std::uint32_t words[Words];

    arriving_body(Next const& next, void* there, void const* bytes, std::size_t size)
        : Next{next}, slot{static_cast<std::uint32_t*>(there)},
          word_count{static_cast<std::uint32_t>(size / sizeof(std::uint32_t))} {
        std::memcpy(words, bytes, size);
    }

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_in_block(block, std::ptrdiff_t{word_count},
                          [&](std::ptrdiff_t i) { slot[i] = words[i]; });
        block.sync();
        Next::operator()(block);
    }
};

} // namespace castnet::cuda
