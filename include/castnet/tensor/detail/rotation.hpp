// Rotation (Givens's) of two rows of a matrix in memory.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>

namespace castnet::detail::inline CASTNET_VECTORS {

// Two rows of `count` numbers become c a - s b and s a + c b.
template <class T>
CASTNET_ALWAYS_INLINE void rotate_rows(T* a, T* b, T c, T s, size_t count) {
    CASTNET_IVDEP
    for (size_t j = 0; j < count; ++j) {
        T const first = a[j], second = b[j];
        a[j] = c * first - s * second;
        b[j] = s * first + c * second;
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
