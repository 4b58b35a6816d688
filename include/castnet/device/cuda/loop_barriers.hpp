// Barriers of a loop that is one kernel: after which of its launches all threads of a block wait,
// since the next one reads what others have written, or overwrites what they still read.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/ir.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

namespace detail {

constexpr bool uses_shared_memory(op kind) {
    return is_matmul(kind) || kind == op::reduce;
}
// In elements of type T.
template <class T>
constexpr std::ptrdiff_t end_of(array_ref const& r, std::ptrdiff_t batch) {
    std::ptrdiff_t const count = r.sample_stride() * (r.size.sample ? batch : 1);
    constexpr auto per_value = static_cast<std::ptrdiff_t>(sizeof(T) / sizeof(bfloat16));
    return r.offset + (r.is_bf16 ? (count + per_value - 1) / per_value : count);
}
template <class T>
constexpr bool overlap(array_ref const& x, array_ref const& y, std::ptrdiff_t batch) {
    return x.where == y.where &&
           (x.repeat_stride != y.repeat_stride ||
            (x.offset < end_of<T>(y, batch) && y.offset < end_of<T>(x, batch)));
}

// Whether launch b has to wait for all threads to have ended a.
template <class T, class Plan>
constexpr bool depends(Plan const& p, kernel_launch const& b, kernel_launch const& a) {
    bool found = uses_shared_memory(a.kind) && uses_shared_memory(b.kind);
    for (int i = a.first_array; i < a.output + a.results; ++i) {
        for (int j = b.first_array; j < b.output + b.results; ++j) {
            bool const writes = i >= a.output || j >= b.output;
            found = found || (writes && overlap<T>(p.arrays[i], p.arrays[j], p.batch));
        }
    }
    return found;
}

} // namespace detail

// A bit for each of the first 64 launches; there is a barrier after all others.
template <class T, class Plan>
constexpr std::uint64_t barriers_of_loop(Plan const& p, stage const& g) {
    std::uint64_t bits = 0;
    int since = g.first; // the first launch after the last barrier
    for (int i = g.first; i < g.last && i < g.first + 64; ++i) {
        bool waits = i + 1 == g.last;
        for (int k = since; k <= i && !waits; ++k) {
            waits = detail::depends<T>(p, p.launch(i + 1), p.launch(k));
        }
        if (waits) {
            since = i + 1;
            bits |= std::uint64_t{1} << (i - g.first);
        }
    }
    return bits;
}
CASTNET_HD constexpr bool has_barrier(std::uint64_t barriers, int launch) {
    return launch >= 64 || (barriers >> launch & 1) != 0;
}

} // namespace castnet::cuda
