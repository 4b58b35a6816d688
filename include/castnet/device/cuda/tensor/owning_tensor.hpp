// Memory of tensors on a GPU, tensor<T, shape, device::cuda>, and copies between devices.
#pragma once

#include <castnet/device/cuda/tensor/evaluate.hpp>

#include <utility>

namespace castnet {

namespace cuda {

namespace detail {

// Copies so many bytes on a stream, after what it has been given so far.
inline void copy_bytes(void* to, void const* from, std::size_t bytes, cudaMemcpyKind way,
                       tensor_stream const& stream) {
    stream.use();
    CASTNET_CUDA(cudaMemcpyAsync(to, from, bytes, way, stream.get()));
}

} // namespace detail

// Memory of the stream that was current when it was made. Empty if moved from.
class tensor_memory {
public:
    explicit tensor_memory(std::size_t bytes)
        : stream_{tensor_stream::current()}, p_{stream_.allocate(bytes)} {}
    tensor_memory(tensor_memory&& other) noexcept
        : stream_{other.stream_}, p_{std::exchange(other.p_, nullptr)} {}
    tensor_memory& operator=(tensor_memory&& other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(p_, other.p_);
        return *this;
    }
    ~tensor_memory() {
        if (p_ != nullptr) {
            stream_.give_back(p_);
        }
    }
    void* get() const { return p_; }

private:
    tensor_stream stream_;
    void* p_;
};

// The N numbers of a tensor.
template <class T, std::size_t N>
class buffer {
    static_assert(
        sizeof(T) <= 8,
        "castnet: the elements of a tensor on a GPU are plain numbers of at most 64 bits");

public:
    buffer() : memory_{N * sizeof(T)} {}
    buffer(buffer const& other) : buffer{} { copy(other); }
    buffer(buffer&&) noexcept = default;
    buffer& operator=(buffer const& other) {
        if (this != &other) {
            restore();
            copy(other);
        }
        return *this;
    }
    buffer& operator=(buffer&&) noexcept = default;
    ~buffer() = default;

    // Makes a buffer that was moved from usable again.
    void restore() {
        if (data() == nullptr) {
            memory_ = tensor_memory{N * sizeof(T)};
        }
    }

    T* data() const { return static_cast<T*>(memory_.get()); }

    // The first number, on the host: waits for it.
    T first() const {
        T value{};
        auto const& stream = tensor_stream::current();
        detail::copy_bytes(&value, data(), sizeof value, cudaMemcpyDeviceToHost, stream);
        stream.wait();
        return value;
    }

private:
    void copy(buffer const& other) {
        if (other.data() != nullptr) { // not moved from
            detail::copy_bytes(data(), other.data(), N * sizeof(T), cudaMemcpyDeviceToDevice,
                               tensor_stream::current());
        }
    }

    tensor_memory memory_;
};

} // namespace cuda

namespace detail {

template <class T, size_t N>
struct memory_on<T, N, device::cuda> {
    static constexpr bool is_known = true;
    using value = cuda::buffer<T, N>;
};

// Elements in order: those of x, where they lie in order, or of its value.
template <class X>
decltype(auto) in_order(X const& x) {
    if constexpr (requires { x.data(); }) {
        if constexpr (X::is_flat) {
            return static_cast<X const&>(x);
        } else {
            return evaluate(x);
        }
    } else {
        return evaluate(x);
    }
}

template <class To, class From>
inline constexpr cudaMemcpyKind copy_way = is_host<From> ? cudaMemcpyHostToDevice
                                           : is_host<To> ? cudaMemcpyDeviceToHost
                                                         : cudaMemcpyDeviceToDevice;

} // namespace detail

// Begins to copy the elements of x to those of `to`, of the same type and shape: tensors or views
// whose elements lie in order, on any devices. The copy follows what the stream has been given so
// far, and both must exist, and x stay as it is, until the stream has done it. (With memory of the
// host that is not page-locked, CUDA may wait.)
template <TensorExpression X, class To>
void copy(X const& x, To&& to, cuda::tensor_stream const& stream) {
    using target = std::remove_cvref_t<To>;
    static_assert(detail::same_shape<typename X::shape_type, typename target::shape_type> &&
                      std::is_same_v<typename X::value_type, typename target::value_type>,
                  "castnet: copy is for two tensors of the same type and shape");
    static_assert(
        requires { typename X::strides_type; } && X::is_flat && target::is_flat,
        "castnet: the elements of tensors that are copied lie in order, without gaps");
    cuda::detail::copy_bytes(
        detail::raw(to.data()), detail::raw(x.data()), X::size() * sizeof(typename X::value_type),
        detail::copy_way<typename target::device_type, typename X::device_type>, stream);
}

// The value of an expression as a tensor on another device: to<device::cuda>(x). Waits for it.
template <class Device, TensorExpression X>
    requires(detail::is_copied<Device, X>)
auto to(X const& x) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    auto const& stream = cuda::tensor_stream::current();
    if constexpr (std::is_same_v<Device, typename X::device_type>) {
        return evaluate(x);
    } else {
        decltype(auto) from = detail::in_order(x);
        auto result = tensor<T, S, Device>::empty();
        copy(from, result, stream);
        stream.wait();
        return result;
    }
}

// The same on a stream, without waiting: x, a tensor of the host that has a name, must exist and
// stay as it is until the stream has copied it.
template <class Device, TensorExpression X>
    requires(detail::is_host<typename X::device_type> && !detail::is_host<Device>)
auto to(X const& x, cuda::tensor_stream const& stream) {
    cuda::stream_scope const scope{stream};
    auto result = tensor<typename X::value_type, typename X::shape_type, Device>::empty();
    copy(x, result, stream);
    return result;
}

} // namespace castnet
