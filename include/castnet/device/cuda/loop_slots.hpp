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

// Finds the slots of a loop, for blocks of so many samples.
template <class T, class Plan>
class slot_finder {
public:
    constexpr slot_finder(Plan const& p, stage const& g, int samples)
        : p_{p}, g_{g}, samples_{samples} {}

    // None where arrays lie in each other's memory so that not all can have one.
    constexpr loop_slots run() {
        for (int i = g_.first; i < g_.last; ++i) {
            for_each_operand(i, [&](array_ref const& r) { add(r, true); });
            // (other channels of the array may be from before)
            for_each_result(i, [&](array_ref const& r) { add(r, r.row > 0); });
        }
        for (int k = 0; k < slots_.count; ++k) {
            loop_slot& slot = slots_.of[k];
            slot.goes_out = is_read_elsewhere(slot);
            fits_ = fits_ && !is_used_otherwise(slot);
            for (int j = 0; j < k; ++j) {
                loop_slot const& other = slots_.of[j];
                fits_ =
                    fits_ && !(slot.goes_out && other.goes_out && lies_in(slot, array_of(other)));
            }
        }
        return fits_ ? slots_ : loop_slots{};
    }

private:
    constexpr void add(array_ref const& r, bool comes_in) {
        if (r.where != region::workspace || !r.size.sample || r.size.pixels != 1 ||
            slots_.find(r) < slots_.count) {
            return;
        }
        fits_ = fits_ && slots_.count < loop_slots::most && r.chunk_stride == 0;
        if (fits_) {
            constexpr auto unit = std::ptrdiff_t{16 / sizeof(T)};
            std::ptrdiff_t const stride = r.sample_stride();
            slots_.of[slots_.count++] = {
                r.offset, stride, r.repeat_stride, slots_.elements, r.is_bf16, comes_in, false};
            slots_.elements += (samples_ * stride + unit - 1) / unit * unit;
        }
    }

    // After the loop, or in another repetition of its block.
    constexpr bool is_read_elsewhere(loop_slot const& slot) const {
        bool found = false;
        auto const look = [&](array_ref const& r) { found = found || lies_in(slot, r); };
        for (int i = 0; i < Plan::sizes.launches; ++i) {
            if (i >= g_.last || (i < g_.first && p_.launch(i).repeat >= 0)) {
                for_each_operand(i, look);
            }
        }
        for (int i = 0; i < Plan::sizes.outputs; ++i) {
            look(p_.outputs[i]);
        }
        return found;
    }
    // The loop keeps something without a slot in the same memory, such as all steps of an array.
    constexpr bool is_used_otherwise(loop_slot const& slot) const {
        bool found = false;
        auto const look = [&](array_ref const& r) {
            found = found || (slots_.find(r) == slots_.count && lies_in(slot, r));
        };
        for (int i = g_.first; i < g_.last; ++i) {
            for_each_operand(i, look);
            for_each_result(i, look);
        }
        return found;
    }

    constexpr bool lies_in(loop_slot const& slot, array_ref const& r) const {
        return detail::overlap<T>(array_of(slot), r, p_.batch);
    }
    static constexpr array_ref array_of(loop_slot const& slot) {
        array_ref r{region::workspace, slot.offset, {true, 1, static_cast<int>(slot.stride)}};
        r.is_bf16 = slot.is_bf16;
        r.repeat_stride = slot.repeat_stride;
        return r;
    }

    template <class F>
    constexpr void for_each_operand(int launch, F const& f) const {
        kernel_launch const& s = p_.launch(launch);
        for (int k = 0; k < s.arrays; ++k) {
            f(p_.arrays[s.first_array + k]);
        }
    }
    template <class F>
    constexpr void for_each_result(int launch, F const& f) const {
        kernel_launch const& s = p_.launch(launch);
        for (int k = 0; k < s.results; ++k) {
            f(p_.arrays[s.output + k]);
        }
    }

    Plan const& p_;
    stage const& g_;
    int samples_;
    loop_slots slots_;
    bool fits_ = true;
};

template <class T, class Plan>
constexpr loop_slots slots_of_loop(Plan const& p, stage const& g, int samples) {
    return slot_finder<T, Plan>{p, g, samples}.run();
}

} // namespace castnet::cuda
