// Micro-kernel of all matrix products and convolutions: a tile of C = A * B in registers. A and B
// have elements of type F (cpu/factor.hpp), C of sum_type<F>.
//
// The rows of A and C are given by pointers, and the steps of A's depth by their offsets after
// such a pointer, so that the same loop serves dense layers (rows of a matrix), convolutions
// (pixels of an image and the window over them) and weight gradients (a pixel of the window and all
// places where it meets the image). B's rows lie `b_stride` apart, one for each step of the depth.
//
// Loads of B may read up to two vectors beyond the end of a row; every block of memory ends with
// that much slack.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/factor.hpp>
#include <castnet/cpu/vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

inline constexpr int tile_rows = 6;
inline constexpr int most_tiles = 96; // below one another, which meet the same columns
inline constexpr int tile_vectors = vector_registers >= 32 ? 4 : 2;

template <class F>
inline constexpr int tile_columns = tile_vectors * simd<F>::width;

// The rows that a tile reads and writes: as many as `rows` says, but all pointers of A are valid.
template <class F>
struct tile_pointers {
    F const* a[tile_rows];
    sum_type<F>* c[tile_rows];
    int rows = 0;

    void push(F const* from, sum_type<F>* to) {
        a[rows] = from;
        c[rows++] = to;
    }
    bool full() const { return rows == tile_rows; }
    void repeat_last() {
        for (int i = rows; i < tile_rows; ++i) {
            CASTNET_OPAQUE(i); // too few for vectorization
            a[i] = a[rows - 1];
        }
    }
};

// Epilogue of a tile, from its sums to the result.
template <class T>
struct tile_end {
    bool accumulate = false; // added to the present values
    T const* bias = nullptr; // a value per column
    bool rectifies = false;  // max(sum, 0), last, and no more than `most`
    T most = std::numeric_limits<T>::infinity();

    // The same for the columns from `first` on.
    tile_end from(std::ptrdiff_t first) const {
        tile_end e = *this;
        e.bias = bias ? bias + first : nullptr;
        return e;
    }
};

// Some steps of the depth.
template <class F>
struct tile_depth {
    std::ptrdiff_t steps;
    std::ptrdiff_t const* offset; // of each step in A
    F const* b;                   // its row of B
    std::ptrdiff_t b_stride;
    // Rows that are read next, fetched into the L2 cache meanwhile: as many, as far apart, which
    // the tiles of a call share; nullptr for nothing. (They have no room in the L1 cache.)
    F const* next = nullptr;
    std::ptrdiff_t next_step = 0; // of one tile
};

template <class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline vec<T> rectified(vec<T> x, T most) {
    vec<T> zero{};
    CASTNET_OPAQUE_VECTOR(zero);
    vec<T> const top = zero + most;
    x = x < zero ? zero : x;
    return x > top ? top : x;
}

// The end of sums in registers but for the accumulation; `first` is their first column.
template <size_t Rows, size_t Vectors, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
finish_sums(vec<T> (&sum)[Rows][Vectors], tile_end<T> const& end, std::ptrdiff_t first) {
    if (end.bias) {
        T const* const bias = end.bias + first;
        CASTNET_UNROLL
        for (size_t j = 0; j < Vectors; ++j) {
            vec<T> const shift =
                *reinterpret_cast<vec<T> const*>(bias + j * size_t(simd<T>::width));
            CASTNET_UNROLL
            for (size_t i = 0; i < Rows; ++i) {
                sum[i][j] += shift;
            }
        }
    }
    if (end.rectifies) {
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            CASTNET_UNROLL
            for (size_t j = 0; j < Vectors; ++j) {
                sum[i][j] = rectified<T>(sum[i][j], end.most);
            }
        }
    }
}

// At most Rows rows, and Vectors * width columns from `first` on. Every loop over them is unrolled,
// so that the sums stay in registers. Not inlined: it is large, and registers are scarce.
template <int Rows, int Vectors, class F, bool Fetches>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void tile(tile_pointers<F> const& p, std::ptrdiff_t first,
                                                 tile_depth<F> const& d,
                                                 tile_end<sum_type<F>> const& end) {
    using T = sum_type<F>;
    constexpr int width = simd<F>::width;
    vec<T> sum[size_t(Rows)][size_t(Vectors)] = {};
    F const* row[size_t(Rows)];
    CASTNET_UNROLL
    for (int i = 0; i < Rows; ++i) {
        row[i] = p.a[i];
    }
    CASTNET_UNROLL
    for (int i = 0; i < Rows; ++i) { // the results come into the cache meanwhile
        if (i < p.rows) {
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                __builtin_prefetch(p.c[i] + first + j * width, 1);
            }
        }
    }
    F const* b = d.b;
    std::ptrdiff_t const b_stride = d.b_stride, next_step = d.next_step;
    F const* next = d.next;
    std::ptrdiff_t const* const last = d.offset + d.steps;
    for (std::ptrdiff_t const* k = d.offset; k != last; ++k) {
        std::ptrdiff_t const offset = *k;
        vec<F> right[size_t(Vectors)];
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            right[j] = *reinterpret_cast<vec<F> const*>(b + j * width);
        }
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            auto const left = broadcast(row[i][offset]);
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                sum[i][j] = plus_product<Rows, Vectors, F>(sum[i][j], left, right[j]);
            }
        }
        if constexpr (Fetches) {
            __builtin_prefetch(next, 0, 2);
            if constexpr (vector_bytes >= 64) { // narrow ones share a line
                __builtin_prefetch(next + width, 0, 2);
            }
            next += next_step;
        }
        b += b_stride;
    }
    // calls f(sum, its destination)
    auto const each = [&](auto const& f) __attribute__((always_inline)) {
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            if (i < p.rows) {
                T* const c = p.c[i] + first;
                CASTNET_UNROLL
                for (int j = 0; j < Vectors; ++j) {
                    f(sum[i][j], *reinterpret_cast<vec<T>*>(c + j * width));
                }
            }
        }
    };
    if (end.accumulate) {
        each([](vec<T>& x, vec<T> const& c) __attribute__((always_inline)) { x += c; });
    }
    finish_sums<Rows, Vectors, T>(sum, end, first);
    each([](vec<T> const& x, vec<T>& c) __attribute__((always_inline)) { c = x; });
}

template <class F>
using tile_function = void(tile_pointers<F> const&, std::ptrdiff_t, tile_depth<F> const&,
                           tile_end<sum_type<F>> const&);

// Fewer than 2 * Most numbers, in powers of two: calls of memmove would take longer.
template <int Most, class T>
[[gnu::always_inline]] inline void copy_few(T const* from, int count, T* to) {
    if (count & Most) {
        std::memcpy(to, from, Most * sizeof(T));
        from += Most;
        to += Most;
    }
    if constexpr (Most > 1) {
        copy_few<Most / 2>(from, count, to);
    }
}

// A tile with fewer columns than its vectors: computed in a temporary with whole vectors.
template <class F>
[[gnu::noinline]] void partial_tile(tile_function<F>* whole_tile, tile_pointers<F> const& p,
                                    std::ptrdiff_t first, int columns, tile_depth<F> const& d,
                                    tile_end<sum_type<F>> const& end) {
    sum_type<F> whole[tile_rows][tile_columns<F>];
    tile_pointers<F> there = p;
    for (int i = 0; i < p.rows; ++i) {
        there.c[i] = whole[i];
        if (end.accumulate) {
            std::fill_n(whole[i], tile_columns<F>, sum_type<F>(0));
            copy_few<tile_columns<F> / 2>(p.c[i] + first, columns, whole[i]);
        }
    }
    whole_tile(there, 0, d, end.from(first));
    for (int i = 0; i < p.rows; ++i) {
        copy_few<tile_columns<F> / 2>(whole[i], columns, p.c[i] + first);
    }
}

// The tile with this many vectors. The largest one also exists without fetching, which is not free;
// where there is one vector, reading it is most of the work.
template <int Rows, class F>
tile_function<F>* tile_of(int vectors, bool fetches) {
    if constexpr (Rows == tile_rows) {
        if (vectors == tile_vectors && !fetches) {
            return &tile<Rows, tile_vectors, F, false>;
        }
    }
    if constexpr (tile_vectors > 2) {
        if (vectors > 2) {
            return vectors > 3 ? &tile<Rows, 4, F, true> : &tile<Rows, 3, F, true>;
        }
    }
    return vectors > 1 ? &tile<Rows, 2, F, true> : &tile<Rows, 1, F, false>;
}
// The same for so many rows. With all vectors there are tiles of one, two and four: what is left of
// numbers of rows that are a power of two.
template <class F>
tile_function<F>* tile_of(int rows, int vectors, bool fetches) {
    static_assert(tile_rows == 6);
    if (rows == 1) {
        return tile_of<1, F>(vectors, fetches);
    }
    if (rows <= 4 && vectors == tile_vectors) {
        return rows == 2 ? &tile<2, tile_vectors, F, true> : &tile<4, tile_vectors, F, true>;
    }
    return tile_of<tile_rows, F>(vectors, fetches);
}

// Some tiles: their columns `first` to `first + columns`, no more than a tile has.
template <class F>
[[gnu::noinline]] void tile_panel(tile_pointers<F> const* p, int tiles, std::ptrdiff_t first,
                                  int columns, tile_depth<F> const& d,
                                  tile_end<sum_type<F>> const& end) {
    constexpr int width = simd<F>::width;
    int const vectors = (columns + width - 1) / width;
    tile_function<F>* const all_rows = tile_of<tile_rows, F>(vectors, d.next != nullptr);
    tile_depth<F> here = d;
    here.next_step = d.next ? d.b_stride / tiles : 0;
    here.next = d.next ? d.next : d.b;
    for (int i = 0; i < tiles; ++i, here.next += d.steps * here.next_step) {
        tile_function<F>* const run =
            p[i].full() ? all_rows : tile_of<F>(p[i].rows, vectors, d.next != nullptr);
        if (columns == vectors * width) {
            run(p[i], first, here, end);
        } else {
            partial_tile(run, p[i], first, columns, here, end);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
