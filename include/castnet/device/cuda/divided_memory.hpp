// Arrays whose pieces lie in the memories of several GPUs: the parameters of a network on several
// devices, and the gradients with the optimizer's state.
#pragma once

#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/plan/buffer_assignment.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

namespace castnet::cuda {

// Where something lies: an address of the memory of device `device`.
template <class T>
struct placed {
    T* at;
    int device;

    placed operator+(std::ptrdiff_t n) const { return {at + n, device}; }
};

template <class T>
struct piece {
    std::ptrdiff_t first, count; // elements of the whole array
    placed<T> where;
};

// An element of such an array, by its number; the pieces are sorted.
template <class T>
class divided {
public:
    divided(std::span<piece<T> const> pieces, std::ptrdiff_t number = 0)
        : pieces_{pieces}, number_{number} {}

    divided operator+(std::ptrdiff_t n) const { return {pieces_, number_ + n}; }

    // Where the element lies.
    placed<T> where() const {
        auto const next =
            std::upper_bound(pieces_.begin(), pieces_.end(), number_,
                             [](std::ptrdiff_t n, piece<T> const& p) { return n < p.first; });
        piece<T> const& here = *std::prev(next);
        return {here.where.at + (number_ - here.first), here.where.device};
    }
    std::span<piece<T> const> pieces() const { return pieces_; }

private:
    std::span<piece<T> const> pieces_;
    std::ptrdiff_t number_;
};

// Memory for the parameters of a plan: those of each device on its GPU, trained ones before others.
template <class T>
class divided_memory {
public:
    divided_memory() = default;
    template <class Sessions>
    divided_memory(Sessions const& gpus, std::span<device_memory const> devices) {
        for (std::size_t d = 0; d < devices.size(); ++d) {
            element_range const trained = devices[d].trained, others = devices[d].others;
            int const device = static_cast<int>(d);
            blocks_.push_back(gpus.allocate(
                device, std::size_t(trained.count + others.count) * sizeof(T), "parameters"));
            T* const begin = blocks_.back().template as<T>();
            add({trained.offset, trained.count, {begin, device}});
            add({others.offset, others.count, {begin + trained.count, device}});
        }
        std::sort(pieces_.begin(), pieces_.end(),
                  [](auto const& a, auto const& b) { return a.first < b.first; });
    }

    template <class>
    divided<T> as() const {
        return {pieces_};
    }

private:
    void add(piece<T> const& p) {
        if (p.count > 0) {
            pieces_.push_back(p);
        }
    }

    std::vector<memory> blocks_; // of each device
    std::vector<piece<T>> pieces_;
};

} // namespace castnet::cuda
