// Tuning constants of the CPU's kernels, all measured on processors with AVX2 and AVX-512.
// (Sizes that follow from the number of vector registers are in cpu/vector.hpp and cpu/tile.hpp.)
#pragma once

#include <castnet/core/target.hpp>

#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// Number of independent accumulators for sums over samples; fixed, so that results do not depend on
// the number of threads.
inline constexpr int chunks = 8;

// Target size in bytes of the operands and results of a chunk's samples, besides the weights: part
// of a typical L2 cache. A chunk takes at most that many samples at once.
inline constexpr std::ptrdiff_t chunk_cache = 131072;
inline constexpr std::ptrdiff_t most_samples_at_once = 16;

// Bytes of the slices of a volume that are unfolded at once for a convolution.
inline constexpr std::ptrdiff_t slice_cache = 262144;

// Floating-point operations below which waking the threads costs more than they save. Products of
// matrices do `product_speed` times as many in the same time as other kernels. The update of a
// parameter counts as `update_flops`: with few parameters, threads would mostly fetch from each
// other's caches what another one has updated.
inline constexpr double worthwhile_flops = 200'000;
inline constexpr double product_speed = 10, update_flops = 2;

// The largest networks whose launches are compiled one by one (small.hpp): elements of parameters,
// of the workspace, and of a row; and those of plans for a single sample, whose launches do less.
inline constexpr std::ptrdiff_t small_parameters = 4096, small_workspace = 65536, small_row = 64;
inline constexpr std::ptrdiff_t single_sample_parameters = 32768, single_sample_row = 256;

// Bytes of a typical L1 cache.
inline constexpr std::ptrdiff_t l1_cache = 32768;

// Bytes of a right factor from which on few rows fetch what they read next. Beside what else a step
// reads, it comes from memory, of which processors do not read far enough ahead; from an L3 cache,
// fetching costs up to a fifth.
inline constexpr std::ptrdiff_t few_rows_fetched_ahead = 4 << 20;

// Bytes of an image from which on convolutions in narrow groups fetch the row that they read next:
// from an L2 cache, that would cost up to a fifth.
inline constexpr std::ptrdiff_t grouped_fetched_ahead = 512 << 10;

// Queries and keys of a block of attention.
inline constexpr std::ptrdiff_t attention_queries = 64, attention_keys = 128;

// Steps of the depth of a convolution of few channels: 3 x 3 pixels of 4 channels.
inline constexpr std::ptrdiff_t shallow_steps = 36;

// Steps of the depth of other convolutions that are computed in runs of pixels.
inline constexpr std::ptrdiff_t run_steps = 1024;

// Output pixels of a band of a convolution: rows of one image or several small images, so that what
// a kernel reads stays in the cache.
inline constexpr int band_pixels = 192;

// Channels and filters from which on Winograd's transforms are worth the products saved; more of
// them where a sample has fewer results, of few tiles. (The measurements are in
// bench/results/cpu_operations.md.)
inline constexpr int winograd_channels = 12, winograd_many_results = 48,
                     winograd_channels_of_few_results = 32;

// Pixels of a sample up to which, and bytes of weights from which on, a convolution of single
// pixels is a product for the whole batch.
inline constexpr int most_pointwise_pixels = 64;
inline constexpr std::ptrdiff_t pointwise_weights = 262144;

// Rows of a sample from which on the weight of a dense layer is packed before the product.
inline constexpr std::ptrdiff_t least_packed_rows = 16;

// Channels and filters, or features and units, from which on it is worth rounding the factors of
// products to bfloat16.
inline constexpr int least_rounded = 32;

// Bytes of transformed weights from which on threads share their reading, of caches for a chunk's
// tiles and for shared ones, and limits of the number of tiles at once.
inline constexpr std::ptrdiff_t winograd_shared_weights = 2 << 20, winograd_chunk_cache = 1 << 20,
                                winograd_shared_cache = 16 << 20;
inline constexpr std::ptrdiff_t winograd_least_tiles = 48, winograd_most_tiles = 96;

// Tiles of a sample from which on a convolution of a large window transforms weights that threads
// share.
inline constexpr std::ptrdiff_t winograd_least_alone = 8;

} // namespace castnet::cpu::inline CASTNET_TARGET
