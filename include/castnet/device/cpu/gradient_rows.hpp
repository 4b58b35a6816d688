// Rows of a table that have a gradient.
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/device/cpu/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

// Of a table whose gradient lies at `offset` in region::gradients. They are known while that comes
// from a single gather of rows: all others are 0 in memory then. So a step writes only the rows
// that it uses, and clears those of the step before.
class gradient_rows {
public:
    static constexpr std::int32_t unused = -1;

    gradient_rows(std::ptrdiff_t offset, std::ptrdiff_t rows, std::ptrdiff_t columns)
        : offset_{offset}, columns_{columns}, place_(std::size_t(rows), unused) {
        used_.reserve(place_.size()); // so that no step allocates
    }

    std::ptrdiff_t offset() const { return offset_; }
    std::ptrdiff_t end() const { return offset_ + count() * columns_; }
    std::ptrdiff_t count() const { return std::ptrdiff_t(place_.size()); }
    std::ptrdiff_t columns() const { return columns_; }

    bool are_known() const { return known_; }
    // In the order in which ids name them first.
    std::span<std::int32_t const> used() const { return used_; }
    // The place of a row there, or `unused`.
    std::int32_t place_of(std::ptrdiff_t row) const { return place_[std::size_t(row)]; }

    // Somebody else changes the gradient.
    void forget() { known_ = false; }

    // Makes the gradient 0; from now on it has the rows that these ids name, but for the one that
    // is left out.
    template <class T>
    void begin(T* gradient, std::span<T const> ids, T left_out) {
        clear(gradient);
        for (std::int32_t const row : used_) {
            place_[std::size_t(row)] = unused;
        }
        used_.clear();
        for (T const id : ids) {
            auto const row = static_cast<std::int32_t>(id);
            if (place_[std::size_t(row)] == unused && id != left_out) {
                place_[std::size_t(row)] = static_cast<std::int32_t>(used_.size());
                used_.push_back(row);
            }
        }
        known_ = true;
    }

private:
    template <class T>
    void clear(T* gradient) const {
        std::ptrdiff_t const rows = known_ ? std::ptrdiff_t(used_.size()) : count();
        share_range(rows, double(rows * columns_),
                    [=, this](std::ptrdiff_t i, std::ptrdiff_t last) {
                        for (; i < last; ++i) {
                            std::ptrdiff_t const row = known_ ? used_[std::size_t(i)] : i;
                            std::fill_n(gradient + row * columns_, columns_, T(0));
                        }
                    });
    }

    std::ptrdiff_t offset_, columns_;
    std::vector<std::int32_t> place_; // of each row of the table
    std::vector<std::int32_t> used_;
    bool known_ = false;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
