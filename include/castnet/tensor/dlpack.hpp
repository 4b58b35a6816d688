// DLPack: tensors whose memory is shared with NumPy, PyTorch, JAX and others in one process.
//
//     DLManagedTensor* const out = cn::to_dlpack(std::move(x)); // for the reader, who deletes it
//     auto const in = cn::from_dlpack<cn::tensor<float, cn::shape<2, 3>>>(pointer);
//     in.view()(1, 2) = 0; // writes the other's memory
//
// Managed is DLManagedTensor, which all of them read, or DLManagedTensorVersioned (DLPack 1.0), in
// Python the contents of a capsule named "dltensor" or "dltensor_versioned". The definitions are
// those of <dlpack/dlpack.h> (Debian: libdlpack-dev) or of another copy of this header that stands
// before, such as <ATen/dlpack.h>. For tensors on a GPU: castnet/device/cuda/tensor/dlpack.hpp.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#ifndef DLPACK_VERSION
#ifndef DLPACK_MAJOR_VERSION
#include <dlpack/dlpack.h>
#endif
#endif

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

template <class T>
constexpr DLDataType dlpack_type() {
    static_assert(!std::is_same_v<T, bool>, "castnet: DLPack exchanges numbers and no bools");
    auto const code = std::is_floating_point_v<T> ? kDLFloat
                      : std::is_signed_v<T>       ? kDLInt
                                                  : kDLUInt;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * sizeof(T)), 1};
}

// "float32", "type 4 of 16 bits"
[[gnu::noinline]] inline std::string dlpack_name(DLDataType type) {
    char const* const names[] = {"int", "uint", "float"};
    std::string text =
        type.code < 3
            ? string_of({names[type.code], unsigned{type.bits}})
            : string_of({"type ", unsigned{type.code}, " of ", unsigned{type.bits}, " bits"});
    if (type.lanes != 1) {
        append(text, {" x ", unsigned{type.lanes}});
    }
    return text;
}

template <class Extents>
[[gnu::noinline]] std::string dlpack_extents(Extents const* extents, size_t rank) {
    std::string text = "(";
    for (size_t axis = 0; axis != rank; ++axis) {
        append(text, {axis > 0 ? ", " : "", extents[axis]});
    }
    return text + ")";
}

// DLPack's terms for a device of castnet's: where() in messages, what is_ours() accepts, and
// finish(), which waits until elements may be read by others.
template <class Device>
struct dlpack_device;

template <>
struct dlpack_device<device::cpu> {
    static constexpr char const* remedy = "copy it there before, as by .cpu()";
    static DLDevice of() { return {kDLCPU, 0}; }
    static std::string where() { return "1, the host"; }
    static bool is_ours(DLDevice const& d) {
        constexpr int host = 1, page_locked = 3; // kDLCPU, kDLCUDAHost
        auto const type = static_cast<int>(d.device_type);
        return type == host || type == page_locked;
    }
    static void finish() {}
};

template <class Managed>
inline constexpr bool is_versioned_dlpack = requires(Managed m) { m.version; };

// A managed tensor of ours, with what it points to.
template <class Managed, class Owner, size_t Rank>
struct dlpack_lease {
    Managed managed{};
    Owner owner;
    std::int64_t extents[Rank > 0 ? Rank : 1]{};
    std::int64_t steps[Rank > 0 ? Rank : 1]{};

    explicit dlpack_lease(Owner&& from) : owner{std::move(from)} {}
};

template <class Managed, class Owner, class T, class S, class Strides, class Device>
Managed* lease(Owner owner, tensor_view<T, S, Strides, Device> (*view_of_owner)(Owner&)) {
    dlpack_device<Device>::finish();
    auto* const all = new dlpack_lease<Managed, Owner, S::rank>{std::move(owner)};
    auto const view = view_of_owner(all->owner);
    for (size_t axis = 0; axis != S::rank; ++axis) {
        all->extents[axis] = static_cast<std::int64_t>(S::extent[axis]);
        all->steps[axis] = static_cast<std::int64_t>(Strides::step[axis]);
    }
    DLTensor& to = all->managed.dl_tensor;
    to.data = const_cast<std::remove_const_t<T>*>(raw(view.data()));
    to.device = dlpack_device<Device>::of();
    to.ndim = static_cast<int>(S::rank);
    to.dtype = dlpack_type<std::remove_const_t<T>>();
    to.shape = all->extents;
    to.strides = all->steps;
    all->managed.manager_ctx = all;
    all->managed.deleter = [](Managed* self) {
        delete static_cast<dlpack_lease<Managed, Owner, S::rank>*>(self->manager_ctx);
    };
    if constexpr (is_versioned_dlpack<Managed>) {
        all->managed.version = {1, 0};
        all->managed.flags = std::is_const_v<T> ? 1 : 0; // read-only
    } else {
        static_assert(!std::is_const_v<T>,
                      "castnet: to_dlpack: a DLManagedTensor cannot say that its elements are "
                      "read-only; give DLManagedTensorVersioned");
    }
    return &all->managed;
}

} // namespace detail

// A tensor for others, with its elements; whoever reads it calls its deleter.
template <class Managed = DLManagedTensor, class T, Shape S, class Device>
Managed* to_dlpack(tensor<T, S, Device>&& x) {
    using owner = tensor<T, S, Device>;
    return detail::lease<Managed, owner, T, S, row_major<S>, Device>(
        std::move(x), [](owner& own) { return own.view(); });
}

// The elements of a view, which must exist until the deleter is called.
template <class Managed = DLManagedTensor, class T, Shape S, class Strides, class Device>
Managed* to_dlpack(tensor_view<T, S, Strides, Device> x) {
    using view = tensor_view<T, S, Strides, Device>;
    return detail::lease<Managed, view, T, S, Strides, Device>(std::move(x),
                                                               [](view& own) { return own; });
}

// Another's tensor: a view of elements, which are given back with this object.
template <class T, Shape S, class Device, class Managed>
class dlpack_tensor {
public:
    explicit dlpack_tensor(Managed* from) : from_{from} {}
    dlpack_tensor(dlpack_tensor&& other) noexcept : from_{std::exchange(other.from_, nullptr)} {}
    dlpack_tensor& operator=(dlpack_tensor&& other) noexcept {
        std::swap(from_, other.from_);
        return *this;
    }
    ~dlpack_tensor() {
        if (from_ != nullptr && from_->deleter != nullptr) {
            from_->deleter(from_);
        }
    }

    tensor_view<T, S, row_major<S>, Device> view() const {
        using result = tensor_view<T, S, row_major<S>, Device>;
        DLTensor const& t = from_->dl_tensor;
        auto* const first = reinterpret_cast<T*>(static_cast<char*>(t.data) + t.byte_offset);
        return result{typename result::pointer{first}};
    }

private:
    Managed* from_;
};

// Takes a tensor of others: Tensor is the tensor<T, shape<…>> that it must be, writable, with
// elements in row-major order in the host's memory, or for a tensor<T, shape<…>, device::cuda> in
// that of the GPU of the calling thread's stream. Throws castnet::error if it is not; then the
// pointer remains the caller's.
template <class Tensor, class Managed>
auto from_dlpack(Managed* from) {
    using T = typename Tensor::value_type;
    using S = typename Tensor::shape_type;
    constexpr DLDataType type = detail::dlpack_type<T>();
    if constexpr (detail::is_versioned_dlpack<Managed>) {
        if (from->version.major != 1) {
            throw error({"castnet: from_dlpack: the tensor is of version ", from->version.major,
                         ", expected 1"});
        }
        if ((from->flags & 1) != 0) {
            throw error("castnet: from_dlpack: the elements are read-only; give a copy");
        }
    }
    DLTensor const& x = from->dl_tensor;
    using expected = detail::dlpack_device<typename Tensor::device_type>;
    if (!expected::is_ours(x.device)) {
        throw error({"castnet: from_dlpack: the tensor is on device ", x.device.device_id,
                     " of type ", static_cast<int>(x.device.device_type), ", expected ",
                     expected::where(), ": ", expected::remedy});
    }
    auto const rank = static_cast<size_t>(x.ndim);
    bool is_expected = rank == S::rank && x.dtype.code == type.code && x.dtype.bits == type.bits &&
                       x.dtype.lanes == type.lanes;
    bool in_order = true;
    for (size_t axis = 0; is_expected && axis != S::rank; ++axis) {
        is_expected = x.shape[axis] == static_cast<std::int64_t>(S::extent[axis]);
        in_order =
            in_order && (x.strides == nullptr || S::extent[axis] == 1 ||
                         x.strides[axis] == static_cast<std::int64_t>(row_major<S>::step[axis]));
    }
    if (!is_expected) {
        throw error({"castnet: from_dlpack: the tensor is ", detail::dlpack_name(x.dtype), " ",
                     detail::dlpack_extents(x.shape, rank), ", expected ",
                     detail::dlpack_name(type), " ", detail::dlpack_extents(S::extent, S::rank)});
    }
    if (!in_order) {
        throw error("castnet: from_dlpack: the elements are not in row-major order: make them so "
                    "before, as by .contiguous() or numpy.ascontiguousarray()");
    }
    return dlpack_tensor<T, S, typename Tensor::device_type, Managed>{from};
}

} // namespace castnet
