// A plan for several devices whose memories are apart: offsets in each device's own part of the
// regions, where those of the plan count through the parts of all.
#pragma once

#include <castnet/plan/plan.hpp>

namespace castnet::ir {

constexpr bool lies_in(element_range const& part, array_ref const& r) {
    return r.offset >= part.offset && r.offset < part.offset + part.count;
}
// The part of the memory of one device that an array lies in, or nullptr.
constexpr element_range const* part_of(device_memory const& d, array_ref const& r) {
    switch (r.where) {
    case region::parameters:
        return lies_in(d.trained, r) ? &d.trained : lies_in(d.others, r) ? &d.others : nullptr;
    case region::gradients:
        return lies_in(d.trained, r) ? &d.trained : nullptr;
    case region::workspace:
        return lies_in(d.workspace, r) ? &d.workspace : nullptr;
    default:
        return nullptr;
    }
}

// The device that an array lies on; 0 for the batch, which all devices have.
constexpr int owner_of(device_memory const* devices, int count, array_ref const& r) {
    for (int d = 0; d < count; ++d) {
        if (part_of(devices[d], r) != nullptr) {
            return d;
        }
    }
    return 0;
}

// The offset of an array in the memory of its owner: trained parameters lie before others.
constexpr std::ptrdiff_t offset_in_own_memory(device_memory const& owner, array_ref const& r) {
    element_range const* const part = part_of(owner, r);
    if (part == nullptr) {
        return r.offset;
    }
    return r.offset - part->offset + (part == &owner.others ? owner.trained.count : 0);
}

template <class Tables>
constexpr Tables in_own_memory(Tables p) {
    auto const move = [&](array_ref& r) {
        r.offset =
            offset_in_own_memory(p.devices[owner_of(p.devices, Tables::sizes.devices, r)], r);
    };
    for (array_ref& r : p.arrays) {
        move(r);
    }
    for (array_ref& r : p.outputs) {
        move(r);
    }
    return p;
}
template <class Made>
struct made_in_own_memory {
    static constexpr auto tables = in_own_memory(Made::tables);
};
template <class Made>
constexpr plan<made_in_own_memory<Made>> moved(plan<Made>) {
    return {};
}
template <auto const& Plan>
inline constexpr auto own_memory = moved(Plan);

// Where the samples of the batch begin: before them lies what all devices read.
template <class Plan>
constexpr std::ptrdiff_t begin_of_samples(Plan const& p) {
    std::ptrdiff_t begin = p.staging;
    for (int i = 0; i < Plan::sizes.inputs; ++i) {
        begin = p.inputs[i].offset < begin ? p.inputs[i].offset : begin;
    }
    for (int i = 0; i < Plan::sizes.targets; ++i) {
        begin = p.targets[i].offset < begin ? p.targets[i].offset : begin;
    }
    return begin;
}

// The inputs and targets that a device reads, and what lies between them.
template <class Plan>
constexpr element_range samples_read_by(int device, Plan const& p) {
    std::ptrdiff_t const begin = begin_of_samples(p);
    std::ptrdiff_t first = p.staging, last = begin;
    for (stage const& g : p.stages) {
        for (int i = g.first; i < g.last && g.device == device; ++i) {
            kernel_launch const& s = p.launches[i];
            for (int k = s.first_array; k < s.output; ++k) {
                array_ref const& r = p.arrays[k];
                if (r.where == region::batch && r.offset >= begin) {
                    std::ptrdiff_t const end = r.offset + r.size.count() * p.batch;
                    first = r.offset < first ? r.offset : first;
                    last = end > last ? end : last;
                }
            }
        }
    }
    return {region::batch, first, last > first ? last - first : 0};
}

} // namespace castnet::ir
