// tensor<T, shape, device::cuda>: a tensor in a GPU's memory. Its elements are those of the host's
// tensors in the same order, and it takes part in the same arithmetic; to() copies tensors.
#pragma once

#include <castnet/device/cuda/tensor/evaluate.hpp>

#include <utility>

namespace castnet {

namespace cuda {

// Memory of a tensor, of the stream that was current when it was made. Empty if moved from.
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

namespace detail {

// Copies so many bytes on a stream, after what it has been given so far.
inline void copy_bytes(void* to, void const* from, std::size_t bytes, cudaMemcpyKind way,
                       tensor_stream const& stream) {
    stream.use();
    CASTNET_CUDA(cudaMemcpyAsync(to, from, bytes, way, stream.get()));
}

} // namespace detail

} // namespace cuda

template <class T, Shape S>
class tensor<T, S, device::cuda> : public tensor_base {
    static_assert(
        std::is_arithmetic_v<T> && sizeof(T) <= 8,
        "castnet: the elements of a tensor on a GPU are plain numbers of at most 64 bits");

public:
    using element_type = T;
    using value_type = T;
    using shape_type = S;
    using strides_type = row_major<S>;
    using device_type = device::cuda;
    static constexpr bool is_flat = true, is_along_rows = true;

    tensor() : tensor{uninitialized{}} { view() = T{}; } // zeros
    tensor(tensor const& other) : tensor{uninitialized{}} { copy(other); }
    tensor(tensor&&) noexcept = default;
    tensor& operator=(tensor&&) noexcept = default;
    ~tensor() = default;

    // The value of an expression of the same shape.
    template <TensorExpression X>
    tensor(X const& x) : tensor{uninitialized{}} {
        static_assert(detail::same_shape<typename X::shape_type, S>,
                      "castnet: a tensor is made from an expression of its own shape; to spread "
                      "smaller ones, assign to it or use broadcast_to");
        detail::check_device<device::cuda, typename X::device_type>();
        if constexpr (GpuExpression<X>) {
            device::cuda::write(view(), x);
        }
    }

    // As of tensors of the host.
    template <class X>
        requires(TensorExpression<X> || Number<X>)
    tensor& operator=(X const& x) {
        restore();
        detail::assign(view(), x);
        return *this;
    }
    tensor& operator=(tensor const& other) {
        if (this != &other) {
            restore();
            copy(other);
        }
        return *this;
    }

    // with undetermined values
    static tensor empty() { return tensor{uninitialized{}}; }
    static tensor full(T value) {
        tensor t = empty();
        t.view() = value;
        return t;
    }
    static tensor zeros() { return full(T(0)); }
    static tensor ones() { return full(T(1)); }

    tensor_view<T, S, row_major<S>, device::cuda> view() & {
        return tensor_view<T, S, row_major<S>, device::cuda>{data()};
    }
    tensor_view<T const, S, row_major<S>, device::cuda> view() const& {
        return tensor_view<T const, S, row_major<S>, device::cuda>{data()};
    }

    // The sub-tensor at position i of the first axis.
    decltype(auto) operator[](size_t i) & { return view()[i]; }
    decltype(auto) operator[](size_t i) const& { return view()[i]; }

    // The only element, on the host: waits for it.
    T item() const {
        static_assert(S::count == 1, "castnet: item is for tensors of one element");
        T value{};
        auto const& stream = cuda::tensor_stream::current();
        cuda::detail::copy_bytes(&value, memory_.get(), sizeof value, cudaMemcpyDeviceToHost,
                                 stream);
        stream.wait();
        return value;
    }

    device_ptr<T> data() { return device_ptr<T>{static_cast<T*>(memory_.get())}; }
    device_ptr<T const> data() const { return device_ptr<T const>{static_cast<T*>(memory_.get())}; }
    static constexpr size_t size() { return S::count; }

    // What only the host's loops ask for, which a view answers with a sentence.
    template <class... Index>
    T element(Index... index) const {
        return view().element(index...);
    }
    T flat(size_t i) const { return view().flat(i); }

    template <class View>
    bool is_disturbed_by(View const& written) const {
        return view().is_disturbed_by(written);
    }

    // The same elements, moved into a tensor of another shape with as many of them.
    template <Shape To>
    tensor<T, To, device::cuda> as() && {
        static_assert(same_count<S, To>,
                      "castnet: a tensor can only become one of as many elements");
        return tensor<T, To, device::cuda>{std::move(memory_)};
    }

private:
    template <class, Shape, class>
    friend class tensor;

    explicit tensor(cuda::tensor_memory&& memory) : memory_{std::move(memory)} {}

    struct uninitialized {};
    explicit tensor(uninitialized) : memory_{S::count * sizeof(T)} {}

    void restore() {
        if (memory_.get() == nullptr) {
            memory_ = cuda::tensor_memory{S::count * sizeof(T)};
        }
    }

    void copy(tensor const& other) {
        if (other.memory_.get() != nullptr) { // not moved from
            view() = other;
        }
    }

    cuda::tensor_memory memory_;
};

namespace detail {

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

template <class T>
T* raw(T* p) {
    return p;
}
template <class T>
T* raw(device_ptr<T> p) {
    return p.get();
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
