// Running statistics and totals on a GPU as they were before a step that may not come to its end.
#pragma once

#include <castnet/device/cuda/session.hpp>
#include <castnet/plan/own_memory.hpp>
#include <castnet/plan/statistics.hpp>

#include <cstddef>

namespace castnet::cuda {

template <class T>
class kept_statistics {
public:
    // Calls copy(values, kept, count) for the totals, and for the running statistics that lie on
    // this device, whose part of region::parameters begins there. The first call allocates.
    template <auto const& Plan, class Copy>
    void visit(session const& where, int device, T* parameters, double* totals, Copy const& copy) {
        std::ptrdiff_t sums = 0, elements = 0;
        for (array_ref const& r : Plan.outputs) {
            sums += r.size.count();
        }
        for_each_statistics(Plan, [&](element_range const& r, int) { elements += r.count; });
        if (memory_.bytes() == 0) {
            memory_ = where.allocate(std::size_t(sums) * sizeof(double) +
                                         std::size_t(elements) * sizeof(T),
                                     "running statistics");
        }
        double* const kept_totals = memory_.template as<double>();
        copy(totals, kept_totals, sums);
        T* kept = reinterpret_cast<T*>(kept_totals + sums);
        for_each_statistics(Plan, [&](element_range const& r, int owner) {
            if (owner == device) {
                array_ref first;
                first.where = r.where;
                first.offset = r.offset;
                copy(parameters + offset_in_own_memory(Plan.devices[device], first), kept, r.count);
                kept += r.count;
            }
        });
    }

private:
    memory memory_;
};

} // namespace castnet::cuda
