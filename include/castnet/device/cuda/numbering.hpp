// Limit of the arrays of a plan, whose elements kernels number with 31 bits (quotient.hpp).
#pragma once

#include <castnet/device/ir.hpp>
#include <castnet/device/launches.hpp>

#include <cstddef>

namespace castnet::cuda {

// Whether 31 bits can index the elements of every array and loop.
template <class Plan>
constexpr bool can_be_numbered(Plan const& p) {
    auto const fits = [&](extents const& e) {
        return e.count() * (e.sample ? p.batch : 1) < std::ptrdiff_t{1} << 31;
    };
    for (array_ref const& r : p.arrays) {
        if (!fits(r.size)) {
            return false;
        }
    }
    for (kernel_launch const& s : p.launches) {
        if (is_fused(s) && !fits(s.space)) {
            return false;
        }
    }
    return true;
}

template <auto const& Plan>
struct arrays_have_numbers {
    static_assert(can_be_numbered(Plan),
                  "castnet: policy::cuda numbers the elements of an array with 31 bits, and one "
                  "of this network's has more: use a smaller batch");
    static constexpr bool checked = true;
};

} // namespace castnet::cuda
