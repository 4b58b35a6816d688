// Number of devices that a plan is for: Device::devices, if there can be several.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::ir {

template <class Device>
inline constexpr int device_count = 1;
template <class Device>
    requires requires { Device::devices; }
inline constexpr int device_count<Device> = Device::devices;

} // namespace castnet::ir
