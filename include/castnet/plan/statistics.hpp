// Running statistics of a plan: the parameters that a run of it changes.
#pragma once

#include <castnet/plan/plan.hpp>

namespace castnet::ir {

// Calls f(range, device) for all of them, at once for those that lie side by side on a device.
template <class Plan, class F>
constexpr void for_each_statistics(Plan const& plan, F const& f) {
    element_range found{region::parameters};
    int device = 0;
    auto const end = [&] {
        if (found.count > 0) {
            f(found, device);
        }
        found.count = 0;
    };
    for (placed_parameter const& p : plan.parameters) { // on each device, as they lie there
        if (p.trainable) {
            continue;
        }
        if (p.kind != role::statistic || p.device != device) {
            end();
        }
        if (p.kind == role::statistic) {
            found.offset = found.count == 0 ? p.offset : found.offset;
            found.count = p.offset + p.count() - found.offset;
            device = p.device;
        }
    }
    end();
}

} // namespace castnet::ir
