// Barriers of a loop that is one kernel: after which of its launches all threads of a block wait,
// since the next one reads what others have written, or overwrites what they still read.
#pragma once

#include <castnet/device/ir.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

class loop_barriers {
public:
    template <class Plan>
    constexpr loop_barriers(Plan const& p, stage const& g) {
        int since = g.first; // the first launch after the last barrier
        for (int i = g.first; i < g.last; ++i) {
            bool waits = i + 1 == g.last || i - g.first >= most;
            for (int k = since; k <= i && !waits; ++k) {
                waits = depend(p, p.launch(k), p.launch(i + 1));
            }
            if (waits) {
                since = i + 1;
                bits_ |= i - g.first < most ? std::uint64_t{1} << (i - g.first) : 0;
            }
        }
    }

    // After this launch of the loop.
    constexpr bool after(int number) const { return number >= most || (bits_ >> number & 1) != 0; }

    std::uint64_t bits_ = 0; // (public, as of a template argument)

private:
    static constexpr int most = 64;

    template <class Plan>
    static constexpr bool depend(Plan const& p, kernel_launch const& a, kernel_launch const& b) {
        if (uses_shared_memory(a.kind) && uses_shared_memory(b.kind)) {
            return true;
        }
        for (int i = a.first_array; i < a.output + a.results; ++i) {
            for (int j = b.first_array; j < b.output + b.results; ++j) {
                if ((i >= a.output || j >= b.output) &&
                    overlap(p.arrays[i], p.arrays[j], p.batch)) {
                    return true;
                }
            }
        }
        return false;
    }
    static constexpr bool uses_shared_memory(op kind) {
        return is_matmul(kind) || kind == op::reduce;
    }
    static constexpr bool overlap(array_ref const& x, array_ref const& y, std::ptrdiff_t batch) {
        return x.where == y.where && (x.repeat_stride != y.repeat_stride ||
                                      (x.offset < end_of(y, batch) && y.offset < end_of(x, batch)));
    }
    static constexpr std::ptrdiff_t end_of(array_ref const& r, std::ptrdiff_t batch) {
        return r.offset + r.sample_stride() * (r.size.sample ? batch : 1);
    }
};

} // namespace castnet::cuda
