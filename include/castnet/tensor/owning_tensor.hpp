// tensor<T, shape, device>: an array of numbers that owns its elements, in row-major order. Those
// of the host, device::cpu, are aligned to 64 bytes; with castnet/cuda.hpp, tensors of device::cuda
// lie in a GPU's memory (device/cuda/tensor/owning_tensor.hpp) and take part in the same
// arithmetic.
#pragma once

#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/detail/evaluate.hpp>
#include <castnet/tensor/detail/nested_list.hpp>
#include <castnet/tensor/detail/temporary.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/view.hpp>

namespace castnet {

namespace detail {

template <class From, class To>
inline constexpr bool same_shape = std::is_same_v<From, To>;

// The memory of N numbers on a device: value::data(), and restore() for those that were moved from.
template <class T, size_t N, class Device>
struct memory_on {
    static constexpr bool is_known = false;
    using value = buffer<T, N>;
};
template <class T, size_t N>
struct memory_on<T, N, device::cpu> {
    static constexpr bool is_known = true;
    using value = buffer<T, N>;
};

// Classes, so that every compiler prints the types.
template <class S>
struct are_in_nested_braces {
    static_assert(never<S>,
                  "castnet: the elements of a tensor stand in braces, one pair for each axis, as "
                  "in tensor<float, shape<2, 3>> t{{1, 2, 3}, {4, 5, 6}}; one number everywhere is "
                  "tensor<...>::full(1); see are_in_nested_braces<shape>");
};
template <class T>
struct is_asked_for_its_item {
    static_assert(never<T>,
                  "castnet: a tensor of no axes is no number: x.item() is its element, and "
                  "reductions over all axes, as sum(x), give numbers on the host");
};

// The elements of a range; throws castnet::error if there are not exactly `count` of them.
template <class T, class Range>
void copy_range(Range const& values, T* to, size_t count) {
    if (values.size() != count) {
        throw error({"castnet: a tensor of ", quantity(count, "element"),
                     " cannot be made from a range of ", values.size()});
    }
    auto const* from = values.data();
    for (size_t i = 0; i < count; ++i) {
        to[i] = static_cast<T>(from[i]);
    }
}

} // namespace detail

template <class T, Shape S, class Device = device::cpu>
class tensor : public tensor_base {
    using memory = detail::memory_on<T, S::count, Device>;
    static_assert(memory::is_known,
                  "castnet: a tensor lies on device::cpu, or with #include <castnet/cuda.hpp> on "
                  "device::cuda");
    static_assert(std::is_arithmetic_v<T>, "castnet: the elements of a tensor are plain numbers");
    static constexpr bool on_host = detail::is_host<Device>;

public:
    using element_type = T;
    using value_type = T;
    using shape_type = S;
    using strides_type = row_major<S>;
    using device_type = Device;
    static constexpr bool is_flat = true, is_along_rows = true;

    using pointer = typename detail::pointer_on<T, Device>::type;
    using const_pointer = typename detail::pointer_on<T const, Device>::type;

    tensor() { view() = T{}; } // zeros

    // From nested braces, tensor<float, shape<2, 3>> t{{1, 2, 3}, {4, 5, 6}}; throws castnet::error
    // if their sizes are not those of the shape. On the host.
    tensor(detail::nested_list<T, S::rank> const& list)
        requires on_host
    {
        detail::copy_nested<S, 0, T>(list, data());
    }

    // From numbers without their braces: fails with a message.
    template <Number First, Number... More>
        requires(S::rank > 0)
    explicit tensor(First, More...) {
        void(detail::are_in_nested_braces<S>{});
    }

    // From the elements of a contiguous range (std::vector, std::span, …) in row-major order;
    // throws castnet::error if there are not exactly size() of them. On the host.
    template <class Range>
        requires(on_host && !TensorExpression<Range> &&
                 requires(Range const& r) { *r.data() + r.size(); })
    explicit tensor(Range const& values) {
        detail::copy_range(values, data(), size());
    }

    // The value of an expression of the same shape.
    template <TensorExpression X>
    tensor(X const& x) {
        static_assert(detail::same_shape<typename X::shape_type, S>,
                      "castnet: a tensor is made from an expression of its own shape; to spread "
                      "smaller ones, assign to it or use broadcast_to");
        detail::check_device<Device, typename X::device_type>();
        if constexpr (detail::on_same_device<Device, typename X::device_type>) {
            detail::write_on(view(), x);
        }
    }

    // The same, computed in the memory of a temporary tensor of this type, such as the product in
    // relu(matmul(a, b) + bias).
    template <TensorExpression X>
        requires detail::keeps_memory<X, tensor>
    tensor(X&& x) : tensor(std::move(detail::computed_in_kept<tensor>(x))) {}

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

    // start, start + step, start + 2 step, … in row-major order. On the host.
    static tensor arange(T start = T(0), T step = T(1))
        requires on_host
    {
        tensor t = empty();
        for (size_t i = 0; i < size(); ++i) {
            t.data()[i] = static_cast<T>(start + static_cast<T>(i) * step);
        }
        return t;
    }

    // As many numbers as the tensor has from first to last, at equal distances, in row-major order,
    // as numpy.linspace; one is `first`. On the host.
    static tensor linspace(T first, T last)
        requires on_host
    {
        static_assert(std::is_floating_point_v<T>,
                      "castnet: linspace makes tensors of floating-point numbers");
        tensor t = arange(first, (last - first) / static_cast<T>(S::count > 1 ? S::count - 1 : 1));
        t.data()[size() - 1] = S::count > 1 ? last : first;
        return t;
    }

    // 1 on the main diagonal, 0 elsewhere. On the host.
    static tensor eye()
        requires on_host
    {
        static_assert(S::rank == 2, "castnet: eye makes matrices: a shape of two axes");
        tensor t;
        for (size_t i = 0; i < S::extent[0] && i < S::extent[1]; ++i) {
            t(i, i) = T(1);
        }
        return t;
    }

    tensor_view<T, S, strides_type, Device> view() & {
        return tensor_view<T, S, strides_type, Device>{data()};
    }
    tensor_view<T const, S, strides_type, Device> view() const& {
        return tensor_view<T const, S, strides_type, Device>{data()};
    }
    void view() const&& = delete; // which would outlive the elements

    // As for tensor_view: the element at an index, unchecked and checked, and the sub-tensor at
    // position i of the first axis: of a temporary tensor, a copy.
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
    auto operator[](size_t i) const&& {
        auto&& part = view()[i];
        if constexpr (TensorExpression<decltype(part)>) {
            return evaluate(part);
        } else {
            return part;
        }
    }

    // Mistakes.
    template <TensorExpression Index>
    T operator[](Index const&) const {
        void(detail::indexes_one_place<Index>{});
        return T{};
    }
    operator T() const
        requires(S::rank == 0)
    {
        void(detail::is_asked_for_its_item<T>{});
        return T{};
    }

    // The only element; of a tensor on a GPU, it waits for it.
    T item() const {
        static_assert(S::count == 1, "castnet: item is for tensors of one element");
        if constexpr (on_host) {
            return *data();
        } else {
            return elements_.first();
        }
    }

    pointer data() { return pointer{elements_.data()}; }
    const_pointer data() const { return const_pointer{elements_.data()}; }
    static constexpr size_t size() { return S::count; }
    T* begin()
        requires on_host
    {
        return data();
    }
    T* end()
        requires on_host
    {
        return data() + size();
    }
    T const* begin() const
        requires on_host
    {
        return data();
    }
    T const* end() const
        requires on_host
    {
        return data() + size();
    }

    // For the loops that evaluate expressions.
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
    tensor<T, To, Device> as() && {
        static_assert(same_count<S, To>,
                      "castnet: a tensor can only become one of as many elements");
        return tensor<T, To, Device>{std::move(elements_)};
    }

private:
    template <class, Shape, class>
    friend class tensor;

    explicit tensor(typename memory::value&& elements) : elements_{std::move(elements)} {}

    struct uninitialized {};
    explicit tensor(uninitialized) {}

    typename memory::value elements_;
};

template <TensorExpression X>
tensor(X const&) -> tensor<typename X::value_type, typename X::shape_type, typename X::device_type>;

// The value of an expression as a tensor of its own.
template <TensorExpression X>
auto evaluate(X&& x) {
    using expression = std::remove_cvref_t<X>;
    return tensor<typename expression::value_type, typename expression::shape_type,
                  typename expression::device_type>(static_cast<X&&>(x));
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
