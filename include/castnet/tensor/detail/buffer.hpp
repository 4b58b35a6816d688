// buffer<T, N>: the N numbers of a tensor, aligned to 64 bytes (a cache line, and the widest vector
// register), or to their size where they are fewer. Few lie in the buffer itself, more on the heap;
// a buffer on the heap that was moved from is empty, and assigning to it brings it back.
#pragma once

#include <castnet/tensor/detail/spare_memory.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// The most bytes that lie in a buffer: sixteen rows of sixteen floats.
inline constexpr size_t most_bytes_in_place = 1024;

template <class T, size_t N>
class heap_buffer {
public:
    heap_buffer() : data_{allocate()} {}
    heap_buffer(heap_buffer const& other) : data_{other.data_ != nullptr ? allocate() : nullptr} {
        copy(other);
    }
    heap_buffer(heap_buffer&& other) noexcept : data_{std::exchange(other.data_, nullptr)} {}
    heap_buffer& operator=(heap_buffer const& other) {
        if (this != &other) {
            if (other.data_ != nullptr) {
                restore();
            }
            copy(other);
        }
        return *this;
    }
    heap_buffer& operator=(heap_buffer&& other) noexcept {
        std::swap(data_, other.data_);
        return *this;
    }
    ~heap_buffer() {
        if constexpr (is_kept) {
            spare_memory::give(data_, bytes);
        } else {
            ::operator delete(data_, buffer_alignment);
        }
    }

    // Makes a buffer that was moved from usable again.
    void restore() {
        if (data_ == nullptr) {
            data_ = allocate();
        }
    }

    T* data() { return data_; }
    T const* data() const { return data_; }

private:
    static constexpr size_t bytes = N * sizeof(T);
    static constexpr bool is_kept = bytes >= least_spare_bytes && bytes <= most_spare_bytes;

    static T* allocate() {
        if constexpr (is_kept) {
            return static_cast<T*>(spare_memory::take(bytes));
        } else {
            return static_cast<T*>(fresh_memory(bytes));
        }
    }

    void copy(heap_buffer const& other) {
        if (other.data_ != nullptr) {
            std::memcpy(data_, other.data_, bytes);
        }
    }

    T* data_;
};

template <class T, size_t N>
class buffer_in_place {
public:
    buffer_in_place() {
        if constexpr (sizeof data_ <= 64) { // cheaper than compilers' doubts whether it is written
            std::memset(data_, 0, sizeof data_);
        }
    }
    void restore() {}
    T* data() { return data_; }
    T const* data() const { return data_; }

private:
    alignas(std::min(size_t{64}, std::bit_ceil(N * sizeof(T)))) T data_[N];
};

// With undetermined values at first.
template <class T, size_t N>
using buffer = std::conditional_t<N * sizeof(T) <= most_bytes_in_place, buffer_in_place<T, N>,
                                  heap_buffer<T, N>>;

} // namespace castnet::detail
