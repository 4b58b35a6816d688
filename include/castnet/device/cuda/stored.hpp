// Array in memory of T or bfloat16: kernels that move or gather elements see numbers of type T
// either way.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/ir.hpp>

namespace castnet::cuda {

template <class T>
class stored {
public:
    class element {
    public:
        CASTNET_HD element(stored const& in, std::ptrdiff_t at) : in_{in}, at_{at} {}
        CASTNET_HD operator T() const { return in_.get(at_); }
        CASTNET_HD void operator=(T value) const { in_.set(at_, value); }

    private:
        stored const& in_;
        std::ptrdiff_t at_;
    };

    stored() = default; // no array
    CASTNET_HD stored(T* first, bool in_bf16) : first_{first}, in_bf16_{in_bf16} {}

    CASTNET_HD explicit operator bool() const { return first_ != nullptr; }
    CASTNET_HD bool is_bf16() const { return in_bf16_; }
    CASTNET_HD bfloat16 const* as_bf16() const { return reinterpret_cast<bfloat16 const*>(first_); }

    CASTNET_HD T get(std::ptrdiff_t i) const {
        return in_bf16_ ? T(reinterpret_cast<bfloat16 const*>(first_)[i]) : first_[i];
    }
    CASTNET_HD void set(std::ptrdiff_t i, T value) const {
        if (in_bf16_) {
            reinterpret_cast<bfloat16*>(first_)[i] = bfloat16(value);
        } else {
            first_[i] = value;
        }
    }
    CASTNET_HD element operator[](std::ptrdiff_t i) const { return {*this, i}; }

    // Neighbouring elements, from an aligned one on (lanes.hpp), or one.
    template <int Lanes>
    CASTNET_HD void load(std::uint32_t i, T (&lane)[Lanes]) const {
        if constexpr (Lanes == 1) {
            lane[0] = get(i);
        } else if (in_bf16_) {
            load_lanes(reinterpret_cast<bfloat16 const*>(first_) + i, lane);
        } else {
            load_lanes(first_ + i, lane);
        }
    }
    template <int Lanes>
    CASTNET_HD void store(T const (&lane)[Lanes], std::uint32_t i) const {
        if (in_bf16_) {
            store_lanes(lane, reinterpret_cast<bfloat16*>(first_) + i);
        } else {
            store_lanes(lane, first_ + i);
        }
    }

private:
    T* first_ = nullptr;
    bool in_bf16_ = false;
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD stored<typename Context::value_type> stored_at(Context const& c, array_ref const& r) {
    return {c.at(r), r.is_bf16};
}

} // namespace castnet::cuda
