// Copy of the parameters in bfloat16, as products read them: its parts, and arrays within it.
#pragma once

#include <castnet/plan/buffer_assignment.hpp>
#include <castnet/plan/launch_list.hpp>

#include <cstddef>

namespace castnet::ir {

// Of several devices each one has a part of its own for trained parameters and one for others.
template <class Plan>
class parameter_copy {
    static constexpr int devices = Plan::sizes.devices;

public:
    constexpr parameter_copy(Plan const& p, int bf16_per_value)
        : p_{p}, bf16_per_value_{bf16_per_value} {}

    // Numbers of the device's type that hold so many in bfloat16.
    constexpr std::ptrdiff_t bf16_elements(std::ptrdiff_t count) const {
        return (count + bf16_per_value_ - 1) / bf16_per_value_;
    }

    // The parameters in a part.
    constexpr element_range parameters(int part) const {
        if constexpr (devices == 1) {
            return {region::parameters, 0, p_.elements(region::parameters)};
        } else {
            device_memory const& owner = p_.devices[part / 2];
            return part % 2 == 0 ? owner.trained : owner.others;
        }
    }

    // Places a part in the workspace.
    constexpr void place(int part, std::ptrdiff_t offset) { offset_[part] = offset; }

    // A parameter's copy, given its array and its device.
    constexpr array_ref of(array_ref r, int device) const {
        int const part = devices == 1 ? 0 : 2 * device + (r.offset < p_.trainable ? 0 : 1);
        r.where = region::workspace;
        r.offset = offset_[part] + (r.offset - parameters(part).offset) / bf16_per_value_;
        r.repeat_stride /= bf16_per_value_;
        r.is_bf16 = true;
        return r;
    }

    // Array that the launch of a part reads or writes.
    constexpr array_ref whole(array_use const& use) const {
        auto const part = static_cast<int>(use.scratch);
        element_range const from = parameters(part);
        extents const size{false, 1, static_cast<int>(from.count)};
        return use.node == all_parameters
                   ? array_ref{region::parameters, from.offset, size}
                   : array_ref{region::workspace, offset_[part], size, 0, 0, true};
    }

private:
    Plan const& p_;
    int bf16_per_value_;
    std::ptrdiff_t offset_[static_cast<size_t>(2 * devices)]{}; // per part
};

} // namespace castnet::ir
