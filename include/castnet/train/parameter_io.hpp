// Reads and writes of parameters, gradients and optimizer state: values in logical order on the
// host, in the device's order in its memory.
#pragma once

#include <castnet/plan/plan.hpp>

#include <vector>

namespace castnet::detail {

// The values of parameter p in a region with values for every (trainable) parameter; `memory` is
// the device's session, or the host's memory.
template <class Device, class Memory, class Region>
auto read_parameter(Memory const& memory, Region region, ir::placed_parameter const& p) {
    using T = typename Device::value_type;
    std::vector<T> values(size_t(p.count()));
    memory.read(region + p.offset, p.count(), [&](T const* from) {
        for (size_t k = 0; k < values.size(); ++k) {
            values[k] = from[Device::place_in_parameter(std::ptrdiff_t(k), p)];
        }
    });
    return values;
}

template <class Device, class Memory, class Region, class Values>
void write_parameter(Memory const& memory, Region region, ir::placed_parameter const& p,
                     Values const& values) {
    using T = typename Device::value_type;
    memory.write(region + p.offset, p.count(), [&](T* to) {
        for (size_t k = 0; k < values.size(); ++k) {
            to[Device::place_in_parameter(std::ptrdiff_t(k), p)] = static_cast<T>(values[k]);
        }
    });
}

} // namespace castnet::detail
