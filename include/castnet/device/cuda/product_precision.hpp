// Precision of products' factors.
#pragma once

#include <castnet/core/language.hpp>

#include <cstdint>

namespace castnet::cuda {

// Precision of the factors of float products: full; TF32's 10 bits of mantissa where that is
// faster; bfloat16's 7 bits, also in memory (plan/mixed_precision.hpp). Sums are float.
enum class product_precision : std::uint8_t { full, tf32, bf16 };

} // namespace castnet::cuda
