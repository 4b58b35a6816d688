// Compiler-specific annotations; empty where they do not apply, so every other header is plain
// C++20.
#pragma once

#include <castnet/core/language.hpp>

#ifdef __CUDACC__
#define CASTNET_HD __host__ __device__
#else
#define CASTNET_HD
#endif

// For a CASTNET_HD template whose arguments decide whether it is for the host or the device: nvcc
// does not check that its callees are for both.
#ifdef __CUDACC__
#define CASTNET_CALLS_UNCHECKED _Pragma("nv_exec_check_disable")
#else
#define CASTNET_CALLS_UNCHECKED
#endif

// Declares the iterations of the following loop independent. (Clang's equivalent warns wherever it
// cannot vectorise; clang checks at run time instead.)
#if defined(__GNUC__) && !defined(__clang__)
#define CASTNET_IVDEP _Pragma("GCC ivdep")
#else
#define CASTNET_IVDEP
#endif

// The same, and tells GCC to vectorise the loop at -O2, too, where it has OpenMP. The loop's body
// has no variables of classes, which would become arrays.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(_OPENMP)
#define CASTNET_SIMD _Pragma("omp simd")
#else
#define CASTNET_SIMD CASTNET_IVDEP
#endif

// For a function that loops over vectors call: they are only vectorised where it is inline, which
// GCC gives up in large programs.
#define CASTNET_ALWAYS_INLINE [[gnu::always_inline]] inline

// Lets a function use vectors of 512 bits where the target has them; clang splits them otherwise.
#if defined(__clang__) && defined(__AVX512F__)
#define CASTNET_WIDE_VECTORS __attribute__((min_vector_width(512)))
#else
#define CASTNET_WIDE_VECTORS
#endif

// Unrolls the following loop of at most sixteen iterations, so that arrays which it indexes can be
// registers. (For the host, nvcc has no such pragma.)
#ifdef __CUDA_ARCH__
#define CASTNET_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define CASTNET_UNROLL _Pragma("GCC unroll 16")
#else
#define CASTNET_UNROLL
#endif

// Hides the value of a number in a register from the optimizer. (At -O3, GCC makes a
// second loop for strides of 1, and spills pointers in it where registers are scarce; clang unrolls
// a loop over a known number and reads memory in another order.)
#ifdef __GNUC__
#define CASTNET_OPAQUE(x) asm("" : "+r"(x))
#else
#define CASTNET_OPAQUE(x) static_cast<void>(x)
#endif

// The same of a vector of 64 bytes. (GCC reads one from memory again for each use, which takes
// twice as long where it lies in two lines of the cache, and makes a comparison and a move, not one
// instruction, of the larger of a number and a constant.)
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define CASTNET_OPAQUE_VECTOR(x) asm("" : "+v"(x))
#else
#define CASTNET_OPAQUE_VECTOR(x) static_cast<void>(x)
#endif

// Leaves the following loop of a kernel as it is.
#ifdef __CUDA_ARCH__
#define CASTNET_NO_UNROLL _Pragma("unroll 1")
#else
#define CASTNET_NO_UNROLL
#endif
