// Memory of a step: its regions, and ranges of their elements.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::ir {

// The parts of a network's memory. Offsets are counted in elements and are multiples of the
// device's `alignment`.
enum class region : std::uint8_t {
    parameters, // trainable parameters, then frozen ones and running statistics
    gradients,  // in the order of the trainable parameters
    batch,      // inputs, targets, sample weights of the step
    workspace,  // activations, their gradients, results, scratch memory of kernels
    prepared    // what predictions compute of the parameters alone, and keep
};
inline constexpr int regions = 5;

// A contiguous piece of memory of a step.
struct element_range {
    region where{};
    std::ptrdiff_t offset = 0, count = 0; // elements
};

inline constexpr std::ptrdiff_t cpu_alignment = 16; // elements: vectors of every type

constexpr std::ptrdiff_t aligned(std::ptrdiff_t elements, std::ptrdiff_t unit = cpu_alignment) {
    return (elements + unit - 1) / unit * unit;
}

} // namespace castnet::ir
