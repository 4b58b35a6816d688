// Numbers of parameters, gradients and optimizer states between logical order and the order and the
// memory of a device.
#pragma once

#include <castnet/plan/plan.hpp>

#include <vector>

namespace castnet::detail {

// Of parameter p, in a region that holds something for every (trainable) parameter.
template <class Device, class T>
std::vector<T> read_parameter(typename Device::session const& session, T const* region,
                              placed_parameter const& p) {
    std::vector<T> values(size_t(p.count()));
    session.read(region + p.offset, p.count(), [&](T const* from) {
        for (size_t k = 0; k < values.size(); ++k) {
            values[k] = from[Device::place_in_parameter(std::ptrdiff_t(k), p)];
        }
    });
    return values;
}

template <class Device, class T, class Values>
void write_parameter(typename Device::session const& session, T* region, placed_parameter const& p,
                     Values const& values) {
    session.write(region + p.offset, p.count(), [&](T* to) {
        for (size_t k = 0; k < values.size(); ++k) {
            to[Device::place_in_parameter(std::ptrdiff_t(k), p)] = static_cast<T>(values[k]);
        }
    });
}

} // namespace castnet::detail
