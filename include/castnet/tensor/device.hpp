// Devices that tensors lie on: device::cpu, the host, and device::cuda, a GPU
// (device/cuda/tensor.hpp).
#pragma once

#include <castnet/core/shape.hpp>

#include <cstdint>

namespace castnet {

namespace device {

struct cpu;
struct cuda;

} // namespace device

// The address of an element in a GPU's memory, which no program of the host can read by mistake.
template <class T>
class device_ptr {
public:
    explicit device_ptr(T* p = nullptr) : p_{p} {}
    template <class U>
        requires(std::is_same_v<U const, T>)
    device_ptr(device_ptr<U> p) : p_{p.get()} {}

    T* get() const { return p_; } // for kernels and CUDA's functions

    friend device_ptr operator+(device_ptr p, size_t elements) {
        return device_ptr{p.p_ + elements};
    }

private:
    T* p_;
};

namespace detail {

template <class Device>
inline constexpr bool is_host = std::is_same_v<Device, device::cpu>;

template <class T, class Device>
struct pointer_on {
    using type = device_ptr<T>;
};
template <class T>
struct pointer_on<T, device::cpu> {
    using type = T*;
};

template <class T>
T* raw(T* p) {
    return p;
}
template <class T>
T* raw(device_ptr<T> p) {
    return p.get();
}

template <class Pointer>
std::uintptr_t address_of(Pointer p) {
    return reinterpret_cast<std::uintptr_t>(raw(p));
}

template <class A, class B>
inline constexpr bool on_same_device = std::is_same_v<A, B>;

// The device of all operands of an expression; numbers have none, void.
template <class... Device>
struct common_device {
    using type = void;
};
template <class Device>
struct common_device<Device> {
    using type = Device;
};
template <class First, class... More>
struct common_device<void, First, More...> : common_device<First, More...> {};
template <class First, class... More>
struct common_device<First, void, More...> : common_device<First, More...> {};
template <class... More>
struct common_device<void, void, More...> : common_device<void, More...> {};
template <class First, class Second, class... More>
struct common_device<First, Second, More...> : common_device<First, More...> {
    static_assert(on_same_device<First, Second>,
                  "castnet: the tensors of an expression lie on different devices: copy one of "
                  "them, with to<device::cuda>(x) or to<device::cpu>(x)");
};

} // namespace detail

} // namespace castnet
