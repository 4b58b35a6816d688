// AMX, the unit for tiles of matrices in Intel's server processors from Sapphire Rapids on, for
// products of bfloat16: one instruction multiplies 16 rows of A, 16 pairs deep, by 16 columns of B.
//
// It adds up the first numbers of the 16 pairs and, apart from them, the second ones, each product
// with one rounding, and then both sums to the result. Zeros follow a depth that is no multiple of
// 16, so a row's result depends neither on its place nor on how many rows there are.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/factor.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cpu::inline CASTNET_TARGET {

// Rows of a tile, pairs of its depth, and numbers.
inline constexpr std::ptrdiff_t amx_rows = 16, amx_steps = 16, amx_tile = amx_rows * amx_steps,
                                amx_depth = 2 * amx_steps;

// Whether products of these factors are compiled for AMX, as -march=native does where it exists.
template <class F>
inline constexpr bool knows_amx = CASTNET_HAS_AMX && numbers_in<F> > 1;

// Whether AMX computes them: where the system lets the process use it, as Linux does since 5.16.
// All products of a process agree on it, since the results differ in their last bits.
template <class F>
bool uses_amx() {
#if CASTNET_HAS_AMX
    if constexpr (knows_amx<F>) {
        static bool const is_permitted = [] {
            constexpr long arch_prctl = 158, request_permission = 0x1023, tile_data = 18;
            long result = arch_prctl;
            asm volatile("syscall"
                         : "+a"(result)
                         : "D"(request_permission), "S"(tile_data)
                         : "rcx", "r11", "memory");
            return result == 0;
        }();
        return is_permitted;
    }
#endif
    return false;
}

#if CASTNET_HAS_AMX

// The thread's eight tiles, as large as they can be, while this exists.
// Other code may use AMX, too, so they are set up for each product.
class amx_tiles {
public:
    amx_tiles() {
        struct {
            std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
            std::uint16_t row_bytes[16] = {};
            std::uint8_t rows[16] = {};
        } shapes;
        for (int i = 0; i < 8; ++i) {
            CASTNET_OPAQUE(i); // too few for vectorization
            shapes.row_bytes[i] = 64;
            shapes.rows[i] = amx_rows;
        }
        asm volatile("ldtilecfg %0" : : "m"(shapes));
    }
    amx_tiles(amx_tiles const&) = delete;
    amx_tiles& operator=(amx_tiles const&) = delete;
    ~amx_tiles() { asm volatile("tilerelease" ::: "memory"); }
};

template <int Tile>
[[gnu::always_inline]] inline void zero_tile() {
    asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
}
template <int Tile>
[[gnu::always_inline]] inline void load_tile(bfloat16_pair const* from, std::ptrdiff_t row_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(row_bytes), "i"(Tile)
                 : "memory");
}
template <int Tile>
[[gnu::always_inline]] inline void store_tile(float* to, std::ptrdiff_t row_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(to), "r"(row_bytes), "i"(Tile)
                 : "memory");
}
// Adds the product of the tiles A and B to the tile Sum.
template <int Sum, int A, int B>
[[gnu::always_inline]] inline void add_product() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sum), "i"(A), "i"(B));
}

#endif

} // namespace castnet::cpu::inline CASTNET_TARGET
