// buffer<T, N>: N numbers on the heap, aligned to 64 bytes (a cache line, and the widest vector
// register). A buffer that was moved from is empty; assigning to it brings it back.
#pragma once

#include <castnet/core/shape.hpp>

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace castnet::detail {

template <class T, size_t N>
class buffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "castnet: the elements of a tensor are plain numbers");

public:
    buffer() : data_{allocate()} {} // with undetermined values
    buffer(buffer const& other) : data_{other.data_ != nullptr ? allocate() : nullptr} {
        copy(other);
    }
    buffer(buffer&& other) noexcept : data_{std::exchange(other.data_, nullptr)} {}
    buffer& operator=(buffer const& other) {
        if (this != &other) {
            if (other.data_ != nullptr) {
                restore();
            }
            copy(other);
        }
        return *this;
    }
    buffer& operator=(buffer&& other) noexcept {
        std::swap(data_, other.data_);
        return *this;
    }
    ~buffer() { ::operator delete(data_, alignment); }

    // Makes a buffer that was moved from usable again.
    void restore() {
        if (data_ == nullptr) {
            data_ = allocate();
        }
    }

    T* data() { return data_; }
    T const* data() const { return data_; }

private:
    static constexpr std::align_val_t alignment{64};

    static T* allocate() { return static_cast<T*>(::operator new(N * sizeof(T), alignment)); }

    void copy(buffer const& other) {
        if (other.data_ != nullptr) {
            std::memcpy(data_, other.data_, N * sizeof(T));
        }
    }

    T* data_;
};

} // namespace castnet::detail
