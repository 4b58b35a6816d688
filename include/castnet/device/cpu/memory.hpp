// Block of host memory, zeroed and aligned for vectors, with two vectors of slack after its end
// (cpu/tile.hpp reads up to that far).
#pragma once

#include <castnet/cpu/vector.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace castnet::cpu::inline CASTNET_TARGET {

class memory {
public:
    static constexpr std::size_t slack = 128;

    memory() = default;
    explicit memory(std::size_t bytes) : memory{bytes, bytes} {}
    // Zeroes only the first `zeroed` bytes and the slack. The system provides the other pages when
    // they are first written; those of threads that the machine does not have never are.
    memory(std::size_t bytes, std::size_t zeroed)
        : bytes_{bytes}, data_{::operator new(bytes + slack, std::align_val_t{64})} {
        std::memset(data_.get(), 0, zeroed);
        std::memset(as<char>(std::ptrdiff_t(bytes)), 0, slack);
    }

    template <class T>
    T* as(std::ptrdiff_t offset = 0) const {
        return static_cast<T*>(data_.get()) + offset;
    }
    std::size_t bytes() const { return bytes_; }

private:
    struct release {
        void operator()(void* p) const { ::operator delete(p, std::align_val_t{64}); }
    };
    std::size_t bytes_ = 0;
    std::unique_ptr<void, release> data_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
