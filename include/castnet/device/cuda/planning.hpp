// Properties of a GPU that plans are made for; they need nothing of CUDA.
#pragma once

#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/reduce.hpp>
#include <castnet/plan/mixed_precision.hpp>

namespace castnet::cuda {

// A base of devices that compute in T. Bf16: products and convolutions read bfloat16
// (plan/mixed_precision.hpp).
template <class T, bool Bf16>
struct planning : ir::factor_storage<T, Bf16> {
    using value_type = T;
    static constexpr bool is_gpu = true;
    static constexpr bool joins_launches = true; // plan/join.hpp

    // Offsets are multiples of so many elements.
    static constexpr std::ptrdiff_t alignment =
        static_cast<std::ptrdiff_t>(alignment_bytes / sizeof(T));

    // Elements of memory that a launch needs besides its operands and its results: none in a plan,
    // since reductions share theirs, and so do the libraries.
    static constexpr scratch_size scratch(kernel_launch const&, window const*, instruction const&) {
        return 0;
    }

    static constexpr bool takes_epilogue(op product, epilogue const& e) {
        return cuda::takes_epilogue<T>(product, e);
    }
};

} // namespace castnet::cuda
