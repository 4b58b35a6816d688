// Block of host memory, zeroed and aligned for vectors, with two vectors of slack after its end
// (cpu/tile.hpp reads up to that far). Large blocks ask for huge pages: kernels walk over them with
// strides that would miss the processor's cache of addresses.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/cpu/vector.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace castnet::cpu::inline CASTNET_TARGET {

class memory {
public:
    static constexpr std::size_t slack = 128;

    memory() = default;
    explicit memory(std::size_t bytes) : memory{bytes, bytes} {}
    // Zeroes only the first `zeroed` bytes and the slack. The system provides the other pages when
    // they are first written; those of threads that the machine does not have never are. Throws
    // castnet::error where the system refuses so much.
    memory(std::size_t bytes, std::size_t zeroed)
        : bytes_{bytes}, data_{allocate(bytes), release{alignment(bytes)}} {
#ifdef MADV_HUGEPAGE
        if (is_large(bytes)) { // advice only: what comes of it does not matter
            madvise(data_.get(), bytes / huge_page * huge_page, MADV_HUGEPAGE);
        }
#endif
        std::memset(data_.get(), 0, zeroed);
        std::memset(as<char>(std::ptrdiff_t(bytes)), 0, slack);
    }

    template <class T>
    T* as(std::ptrdiff_t offset = 0) const {
        return static_cast<T*>(data_.get()) + offset;
    }
    std::size_t bytes() const { return bytes_; }

private:
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    struct release {
        std::align_val_t alignment;
        void operator()(void* p) const { ::operator delete(p, alignment); }
    };
    static bool is_large(std::size_t bytes) { return bytes >= 2 * huge_page; }
    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t{is_large(bytes) ? huge_page : 64};
    }
    static void* allocate(std::size_t bytes) {
        try {
            return ::operator new(bytes + slack, alignment(bytes));
        } catch (std::bad_alloc const&) {
            throw error({"castnet: the system refuses ", bytes >> 20,
                         " MiB of memory for the numbers of a network"});
        }
    }

    std::size_t bytes_ = 0;
    std::unique_ptr<void, release> data_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
