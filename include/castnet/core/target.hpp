// Inline namespaces for code that depends on compiler flags: vectors, OpenMP, zlib. So sources of
// one program may be compiled with different flags, and share no function of different code.
//
//   namespace castnet::cpu::inline CASTNET_TARGET {           what has vectors or threads
//   namespace castnet::io::inline CASTNET_GZIP_SUPPORT {      what reads compressed files
#pragma once

#include <castnet/core/language.hpp>

// Whether programs may use AMX (cpu/amx.hpp): Linux asks them to request it first.
#if defined(__AVX512BF16__) && defined(__AMX_BF16__) && defined(__linux__) && defined(__LP64__)
#define CASTNET_HAS_AMX 1
#else
#define CASTNET_HAS_AMX 0
#endif

#if CASTNET_HAS_AMX
#define CASTNET_VECTORS avx512_amx
#elif defined(__AVX512F__) && defined(__AVX512BF16__)
#define CASTNET_VECTORS avx512_bf16
#elif defined(__AVX512F__)
#define CASTNET_VECTORS avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define CASTNET_VECTORS avx2_fma
#elif defined(__AVX__)
#define CASTNET_VECTORS avx
#elif defined(__ARM_NEON)
#define CASTNET_VECTORS neon
#elif defined(__SSE4_2__)
#define CASTNET_VECTORS sse4_2
#else
#define CASTNET_VECTORS baseline
#endif

#ifdef _OPENMP
#define CASTNET_TARGET CASTNET_VECTORS::inline openmp
#else
#define CASTNET_TARGET CASTNET_VECTORS::inline one_thread
#endif

#ifdef CASTNET_HAS_ZLIB
#define CASTNET_GZIP_SUPPORT with_zlib
#else
#define CASTNET_GZIP_SUPPORT without_zlib
#endif
