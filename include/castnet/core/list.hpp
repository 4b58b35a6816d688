// list<T>: a growing array for constant expressions. Compilers count every call while they
// evaluate, and std::vector spends an order of magnitude more of them; large networks would exceed
// the compilers' default limits.
#pragma once

#include <castnet/core/language.hpp>

#include <initializer_list>

namespace castnet::ir {

// Of a full list. (No member, which compilers would instantiate for every T.)
constexpr int next_capacity(int capacity) {
    return capacity < 4 ? 8 : 4 * capacity;
}

template <class T>
class list {
public:
    constexpr list() = default;
    constexpr list(std::initializer_list<T> values) {
        append(values.begin(), static_cast<int>(values.size()));
    }
    // `count` elements T{}, such as zeros. Compilers count no steps for them, unlike filled()'s.
    static constexpr list with_size(int count) {
        list all{};
        if (count > 0) {
            all.data_ = new T[static_cast<unsigned>(count)]();
            all.size_ = all.capacity_ = count;
        }
        return all;
    }
    // `count` times `value`.
    static constexpr list filled(int count, T const& value) {
        list all{};
        all.append(value, count);
        return all;
    }
    constexpr list(list&& other) noexcept { trade(other); }
    constexpr list(list const& other) {
        reserve(other.size_);
        append(other.data_, other.size_);
    }
    constexpr list& operator=(list other) noexcept {
        trade(other);
        return *this;
    }
    constexpr ~list() { delete[] data_; }

    constexpr void reserve(int count) {
        if (count > capacity_) {
            T* const larger = new T[static_cast<unsigned>(count)];
            for (int i = 0; i < size_; ++i) {
                larger[i] = static_cast<T&&>(data_[i]);
            }
            delete[] data_;
            data_ = larger;
            capacity_ = count;
        }
    }
    constexpr void push(T const& value) {
        if (size_ == capacity_) {
            reserve(next_capacity(capacity_));
        }
        data_[size_++] = value;
    }
    constexpr void push(T&& value) {
        if (size_ == capacity_) {
            reserve(next_capacity(capacity_));
        }
        data_[size_++] = static_cast<T&&>(value);
    }
    constexpr void append(T const* values, int count) {
        if (size_ + count > capacity_) {
            reserve(4 * size_ + count);
        }
        for (int i = 0; i < count; ++i) {
            data_[size_++] = values[i];
        }
    }
    constexpr void append(T const& value, int count) {
        reserve(size_ + count);
        for (int const end = size_ + count; size_ < end;) {
            data_[size_++] = value;
        }
    }
    // Appends elements as T{} up to so many in all.
    constexpr void lengthen(int count) {
        list longer = with_size(count);
        for (int i = 0; i < size_; ++i) {
            longer.data_[i] = data_[i];
        }
        trade(longer);
    }
    constexpr void insert(int at, T value) {
        push(value);
        for (int i = size_ - 1; i > at; --i) {
            data_[i] = data_[i - 1];
        }
        data_[at] = value;
    }
    constexpr void erase(int at) {
        for (int i = at; i + 1 < size_; ++i) {
            data_[i] = data_[i + 1];
        }
        --size_;
    }
    constexpr void clear() { size_ = 0; }
    constexpr void truncate(int size) { size_ = size; }
    constexpr bool empty() const { return size_ == 0; }

    constexpr int size() const { return size_; }
    constexpr T* data() { return data_; }
    constexpr T const* data() const { return data_; }
    constexpr T& operator[](int i) { return data_[i]; }
    constexpr T const& operator[](int i) const { return data_[i]; }
    constexpr T& back() { return data_[size_ - 1]; }
    constexpr T* begin() { return data_; }
    constexpr T* end() { return data_ + size_; }
    constexpr T const* begin() const { return data_; }
    constexpr T const* end() const { return data_ + size_; }

    friend constexpr bool operator==(list const& a, list const& b) {
        bool same = a.size_ == b.size_;
        for (int i = 0; same && i < a.size_; ++i) {
            same = a.data_[i] == b.data_[i];
        }
        return same;
    }

private:
    // (Without std::swap, whose constraints compilers would instantiate for every T*.)
    constexpr void trade(list& other) noexcept {
        T* const data = other.data_;
        int const size = other.size_, capacity = other.capacity_;
        other.data_ = data_;
        other.size_ = size_;
        other.capacity_ = capacity_;
        data_ = data;
        size_ = size;
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    int size_ = 0;
    int capacity_ = 0;
};

} // namespace castnet::ir
