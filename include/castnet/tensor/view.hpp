// tensor_view<T, shape, strides, device>: elements that somebody else owns, seen as a tensor.
// Copies of a view see the same elements; assigning to a view writes elements, as `a[...] = b` does
// in NumPy.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/tensor/device.hpp>
#include <castnet/tensor/strides.hpp>
#include <castnet/tensor/tensor_base.hpp>

#include <type_traits>

namespace castnet {

template <class T, Shape S, class Strides = row_major<S>, class Device = device::cpu>
class tensor_view;

namespace detail {

// A class, so that every compiler prints the types.
template <class Index>
struct indexes_one_place {
    static_assert(never<Index>,
                  "castnet: x[i] takes the number of a place: how many elements a mask selects is "
                  "not known while compiling, so cn::masked_select(x, mask) is a std::vector of "
                  "them, and cn::where(mask, x, 0) keeps the shape; cn::take<0>(x, ids) is for a "
                  "tensor of places");
};

[[noreturn, gnu::cold]] inline void refuse_index(size_t i, size_t axis, size_t extent) {
    throw error({"castnet: index ", i, " on axis ", axis, " is out of range: the tensor has ",
                 quantity(extent, "element"), " along it"});
}
CASTNET_ALWAYS_INLINE void check_index(size_t i, size_t axis, size_t extent) {
    if (i >= extent) {
        refuse_index(i, axis, extent);
    }
}

template <class T, class S, class Strides, class Device, class X>
CASTNET_ALWAYS_INLINE void assign(tensor_view<T, S, Strides, Device> to,
                                  X const& from); // evaluate.hpp

template <class T, class Device, class Pointer, size_t E, size_t... Extent, size_t N,
          size_t... Step>
auto drop_first(Pointer data, shape<E, Extent...>, strides<N, Step...>) {
    return tensor_view<T, shape<Extent...>, strides<Step...>, Device>{data};
}

} // namespace detail

template <class T, Shape S, class Strides, class Device>
class tensor_view : public tensor_base {
public:
    using element_type = T;
    using value_type = std::remove_const_t<T>;
    using shape_type = S;
    using strides_type = Strides;
    using device_type = Device;
    using pointer = typename detail::pointer_on<T, Device>::type;

    // Whether the elements lie in memory in order and without gaps.
    static constexpr bool is_flat = detail::is_row_major<S, Strides>();
    // Whether neighbours on the last axis are neighbours in memory.
    static constexpr bool is_along_rows = S::rank == 0 ||
                                          S::extent[S::rank > 0 ? S::rank - 1 : 0] == 1 ||
                                          Strides::step[S::rank > 0 ? S::rank - 1 : 0] <= 1;

    explicit tensor_view(pointer data) : data_{data} {}
    tensor_view(tensor_view const&) = default;

    // A view that writes can become one that only reads.
    template <class U>
        requires(std::is_same_v<U const, T>)
    tensor_view(tensor_view<U, S, Strides, Device> const& other) : data_{other.data()} {}

    // Writes the elements of an expression, broadcast to this shape, or one number everywhere.
    template <class X>
        requires(TensorExpression<X> || Number<X>)
    CASTNET_ALWAYS_INLINE tensor_view const& operator=(X const& x) const {
        static_assert(!std::is_const_v<T>, "castnet: these elements are read-only");
        detail::assign(*this, x);
        return *this;
    }
    tensor_view& operator=(tensor_view const& other) {
        if (this != &other) {
            detail::assign(*this, other);
        }
        return *this;
    }

    // The element at this index, unchecked.
    template <class... Index>
    T& operator()(Index... index) const {
        static_assert(sizeof...(Index) == S::rank, "castnet: a tensor needs one index per axis");
        return element(static_cast<size_t>(index)...);
    }

    // The same, but throws castnet::error for an index that is out of range.
    template <class... Index>
    T& at(Index... index) const {
        static_assert(sizeof...(Index) == S::rank, "castnet: a tensor needs one index per axis");
        size_t const all[] = {static_cast<size_t>(index)..., 0};
        for (size_t axis = 0; axis != S::rank; ++axis) {
            detail::check_index(all[axis], axis, S::extent[axis]);
        }
        return element(static_cast<size_t>(index)...);
    }

    // Element i of a vector; the sub-tensor at position i of the first axis otherwise. Unchecked.
    decltype(auto) operator[](size_t i) const {
        static_assert(S::rank > 0, "castnet: a tensor of rank 0 has no axis to index");
        if constexpr (S::rank == 1) {
            return element(i);
        } else {
            return detail::drop_first<T, Device>(data_ + i * Strides::step[0], S{}, Strides{});
        }
    }

    // A mistake.
    template <TensorExpression Index>
    T& operator[](Index const&) const {
        void(detail::indexes_one_place<Index>{});
        return *data_;
    }

    pointer data() const { return data_; } // the first element; the others follow at the strides
    static constexpr size_t size() { return S::count; }

    T* begin() const
        requires(is_flat && detail::is_host<Device>)
    {
        return data_;
    }
    T* end() const
        requires(is_flat && detail::is_host<Device>)
    {
        return data_ + S::count;
    }

    // For the loops that evaluate expressions.
    template <class... Index>
    T& element(Index... index) const {
        return offset(std::make_index_sequence<S::rank>{}, index...);
    }
    T& flat(size_t i) const { return at_offset(i); }

    template <class View>
    bool is_disturbed_by(View const& written) const {
        if constexpr (std::is_same_v<typename View::shape_type, S> &&
                      std::is_same_v<typename View::strides_type, Strides>) {
            if (detail::address_of(data_) == detail::address_of(written.data())) {
                return false; // each element is read just before it is written
            }
        }
        using detail::address_of;
        using other = typename View::shape_type;
        return address_of(data_) <
                   address_of(written.data() +
                              detail::reach<other, typename View::strides_type>()) &&
               address_of(written.data()) < address_of(data_ + detail::reach<S, Strides>());
    }

private:
    template <size_t... Axis, class... Index>
    T& offset(std::index_sequence<Axis...>, Index... index) const {
        return at_offset(((index * Strides::step[Axis]) + ... + size_t{0}));
    }
    T& at_offset(size_t i) const {
        static_assert(detail::is_host<Device>,
                      "castnet: the host cannot read elements of a tensor on a GPU: copy it, with "
                      "to<device::cpu>(x)");
        if constexpr (detail::is_host<Device>) {
            return data_[i];
        } else {
            __builtin_unreachable();
        }
    }

    pointer data_;
};

} // namespace castnet
