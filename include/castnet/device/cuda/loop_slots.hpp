// Arrays of one step in a loop that is one kernel: a block keeps those of its samples in shared
// memory, where its threads find at once what others have written.
#pragma once

#include <castnet/device/cuda/loop_barriers.hpp>
#include <castnet/device/ir.hpp>

#include <cstddef>

namespace castnet::cuda {

// Of an array, and of others that have its memory one after another.
struct loop_slot {
    std::ptrdiff_t offset = 0, stride = 0; // in region::workspace, as of array_ref
    std::ptrdiff_t repeat_stride = 0;
    std::ptrdiff_t place = 0; // in shared memory, in elements
    bool is_bf16 = false;
    bool comes_in = false, goes_out = false; // copied before the loop, and after it

    CASTNET_HD constexpr bool holds(array_ref const& r) const {
        return r.where == region::workspace && r.size.sample && r.size.pixels == 1 &&
               r.offset == offset && r.sample_stride() == stride && r.is_bf16 == is_bf16;
    }
};

struct loop_slots {
    static constexpr int most = 16;

    loop_slot of[most];
    int count = 0;
    std::ptrdiff_t elements = 0;

    constexpr int find(array_ref const& r) const {
        int k = 0;
        while (k < count && !of[k].holds(r)) {
            ++k;
        }
        return k;
    }
};

// As a type, for a kernel.
template <loop_slot...>
struct slot_list {};

// For blocks of so many samples; none where memory is shared so that they cannot have it all.
template <class T, class Plan>
constexpr loop_slots slots_of_loop(Plan const& p, stage const& g, int samples) {
    constexpr auto unit = std::ptrdiff_t{16 / sizeof(T)};
    loop_slots slots;
    auto const for_each_array = [&](int launch, bool results, auto const& f) {
        kernel_launch const& s = p.launch(launch);
        int const first = results ? s.output : s.first_array,
                  count = results ? s.results : s.arrays;
        for (int k = first; k < first + count; ++k) {
            f(p.arrays[k]);
        }
    };
    bool fits = true;
    auto const add = [&](array_ref const& r, bool comes_in) {
        if (r.where != region::workspace || !r.size.sample || r.size.pixels != 1 ||
            slots.find(r) < slots.count) {
            return;
        }
        fits = fits && slots.count < loop_slots::most && r.chunk_stride == 0;
        if (fits) {
            std::ptrdiff_t const stride = r.sample_stride();
            slots.of[slots.count++] = {r.offset, stride, r.repeat_stride, slots.elements, r.is_bf16,
                                       comes_in, false};
            slots.elements += (samples * stride + unit - 1) / unit * unit;
        }
    };
    for (int i = g.first; i < g.last; ++i) {
        for_each_array(i, false, [&](array_ref const& r) { add(r, true); });
        for_each_array(i, true, [&](array_ref const& r) { add(r, false); });
    }
    // In the memory of a slot: what all steps are kept of, or another slot that is read later, too.
    auto const array_of = [](loop_slot const& s) {
        array_ref r{region::workspace, s.offset, {true, 1, static_cast<int>(s.stride)}};
        r.is_bf16 = s.is_bf16;
        r.repeat_stride = s.repeat_stride;
        return r;
    };
    auto const in_slot = [&](loop_slot const& s, array_ref const& r) {
        return detail::overlap<T>(array_of(s), r, p.batch);
    };
    for (int k = 0; k < slots.count; ++k) {
        loop_slot& slot = slots.of[k];
        auto const goes_out = [&](array_ref const& r) {
            slot.goes_out = slot.goes_out || in_slot(slot, r);
        };
        for (int i = 0; i < Plan::sizes.launches; ++i) {
            bool const later = i >= g.last || p.launch(i).repeat >= 0; // in another repetition
            if (i >= g.first && i < g.last) {
                auto const check = [&](array_ref const& r) {
                    fits = fits && (slots.find(r) < slots.count || !in_slot(slot, r));
                };
                for_each_array(i, false, check);
                for_each_array(i, true, check);
            } else if (later) {
                for_each_array(i, false, goes_out);
            }
        }
        for (int i = 0; i < Plan::sizes.outputs; ++i) {
            goes_out(p.outputs[i]);
        }
        for (int j = 0; j < k; ++j) {
            loop_slot const& other = slots.of[j];
            fits = fits && !(slot.goes_out && other.goes_out && in_slot(slot, array_of(other)));
        }
    }
    return fits ? slots : loop_slots{};
}

} // namespace castnet::cuda
