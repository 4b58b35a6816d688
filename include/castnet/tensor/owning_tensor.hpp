// tensor<T, shape, device>: an array of numbers that owns its elements, in row-major order. Those
// of the host, device::cpu, are aligned to 64 bytes.
#pragma once

#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/detail/evaluate.hpp>
#include <castnet/tensor/detail/nested_list.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/view.hpp>

namespace castnet {

namespace detail {

template <class From, class To>
inline constexpr bool same_shape = std::is_same_v<From, To>;

} // namespace detail

template <class T, Shape S, class Device = device::cpu>
class tensor : public tensor_base {
    static_assert(detail::is_host<Device>,
                  "castnet: a tensor lies on device::cpu, or with #include <castnet/cuda.hpp> on "
                  "device::cuda");
    static_assert(std::is_arithmetic_v<T>, "castnet: the elements of a tensor are plain numbers");

public:
    using value_type = T;
    using shape_type = S;
    using strides_type = row_major<S>;
    using device_type = Device;
    static constexpr bool is_flat = true, is_along_rows = true;

    tensor() { view() = T{}; } // zeros

    // From nested braces, tensor<float, shape<2, 3>> t{{1, 2, 3}, {4, 5, 6}}; throws castnet::error
    // if their sizes are not those of the shape.
    tensor(detail::nested_list<T, S::rank> const& list) {
        detail::copy_nested<S, 0, T>(list, data());
    }

    // From the elements of a contiguous range (std::vector, std::span, …) in row-major order;
    // throws castnet::error if there are not exactly size() of them.
    template <class Range>
        requires(!TensorExpression<Range> && requires(Range const& r) { *r.data() + r.size(); })
    explicit tensor(Range const& values) {
        if (values.size() != size()) {
            throw error({"castnet: a tensor of ", size(),
                         " elements cannot be made from a range of ", values.size()});
        }
        auto const* from = values.data();
        for (T& element : *this) {
            element = static_cast<T>(*from++);
        }
    }

    // The value of an expression of the same shape.
    template <TensorExpression X>
    tensor(X const& x) {
        static_assert(detail::same_shape<typename X::shape_type, S>,
                      "castnet: a tensor is made from an expression of its own shape; to spread "
                      "smaller ones, assign to it or use broadcast_to");
        detail::check_device<Device, typename X::device_type>();
        detail::write(view(), x);
    }

    // Assigns an expression, broadcast to this shape, or one number everywhere. The expression may
    // read this tensor, in any order: where elements would be overwritten before they are read, as
    // in a = a + transpose(a), it is computed into a temporary first.
    template <class X>
        requires(TensorExpression<X> || Number<X>)
    CASTNET_ALWAYS_INLINE tensor& operator=(X const& x) {
        elements_.restore();
        detail::assign(view(), x);
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

    // start, start + step, start + 2 step, … in row-major order
    static tensor arange(T start = T(0), T step = T(1)) {
        tensor t = empty();
        for (size_t i = 0; i < size(); ++i) {
            t.data()[i] = static_cast<T>(start + static_cast<T>(i) * step);
        }
        return t;
    }

    // 1 on the main diagonal, 0 elsewhere
    static tensor eye() {
        static_assert(S::rank == 2, "castnet: eye makes matrices: a shape of two axes");
        tensor t;
        for (size_t i = 0; i < S::extent[0] && i < S::extent[1]; ++i) {
            t(i, i) = T(1);
        }
        return t;
    }

    tensor_view<T, S> view() & { return tensor_view<T, S>{data()}; }
    tensor_view<T const, S> view() const& { return tensor_view<T const, S>{data()}; }

    // As for tensor_view: the element at an index, unchecked and checked, and the sub-tensor at
    // position i of the first axis.
    template <class... Index>
    T& operator()(Index... index) {
        return view()(index...);
    }
    template <class... Index>
    T const& operator()(Index... index) const {
        return view()(index...);
    }
    template <class... Index>
    T& at(Index... index) {
        return view().at(index...);
    }
    template <class... Index>
    T const& at(Index... index) const {
        return view().at(index...);
    }
    decltype(auto) operator[](size_t i) & { return view()[i]; }
    decltype(auto) operator[](size_t i) const& { return view()[i]; }

    T* data() { return elements_.data(); }
    T const* data() const { return elements_.data(); }
    static constexpr size_t size() { return S::count; }
    T* begin() { return data(); }
    T* end() { return data() + size(); }
    T const* begin() const { return data(); }
    T const* end() const { return data() + size(); }

    // For the loops that evaluate expressions.
    template <class... Index>
    T element(Index... index) const {
        return view().element(index...);
    }
    T flat(size_t i) const { return data()[i]; }

    template <class View>
    bool is_disturbed_by(View const& written) const {
        return view().is_disturbed_by(written);
    }

    // The same elements, moved into a tensor of another shape with as many of them.
    template <Shape To>
    tensor<T, To> as() && {
        static_assert(same_count<S, To>,
                      "castnet: a tensor can only become one of as many elements");
        return tensor<T, To>{std::move(elements_)};
    }

private:
    template <class, Shape, class>
    friend class tensor;

    explicit tensor(detail::buffer<T, S::count>&& elements) : elements_{std::move(elements)} {}

    struct uninitialized {};
    explicit tensor(uninitialized) {}

    detail::buffer<T, S::count> elements_;
};

template <TensorExpression X>
tensor(X const&) -> tensor<typename X::value_type, typename X::shape_type, typename X::device_type>;

// The value of an expression as a tensor of its own.
template <TensorExpression X>
auto evaluate(X const& x) {
    return tensor<typename X::value_type, typename X::shape_type, typename X::device_type>(x);
}

namespace detail {

template <class Device, class X>
inline constexpr bool is_copied = !is_host<Device> || !is_host<typename X::device_type>;

} // namespace detail

// The value of an expression as a tensor on a device. (Of copies between devices, which
// device/cuda/tensor.hpp declares, this is the one that copies nothing.)
template <class Device, TensorExpression X>
    requires(!detail::is_copied<Device, X>)
auto to(X const& x) {
    return evaluate(x);
}

} // namespace castnet
