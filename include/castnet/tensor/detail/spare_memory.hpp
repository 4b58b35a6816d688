// Memory that tensors left, kept for the next ones of the same size. Pages that come fresh from the
// system take longer than most expressions, and C libraries return large blocks at once.
#pragma once

#include <castnet/core/shape.hpp>

#include <cstdint>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace castnet::detail {

inline constexpr std::align_val_t buffer_alignment{64};

// Fresh memory, where it is much in pages of 2 MiB if the system has them: a program that reads
// through it waits less for addresses, and for the system to clear page after page.
inline void* fresh_memory(size_t bytes) {
    void* const block = ::operator new(bytes, buffer_alignment);
#ifdef MADV_HUGEPAGE
    constexpr size_t page = size_t{1} << 21;
    if (bytes >= 2 * page) {
        size_t const before = (page - reinterpret_cast<std::uintptr_t>(block) % page) % page;
        ::madvise(static_cast<char*>(block) + before, bytes - before, MADV_HUGEPAGE);
    }
#endif
    return block;
}

// The sizes that are kept: C libraries keep smaller blocks themselves, and larger ones are too much
// to hold on to. This is also how much a thread keeps of all sizes together.
inline constexpr size_t least_spare_bytes = size_t{1} << 16, most_spare_bytes = size_t{1} << 26;

// The blocks that a thread left last, until it ends.
class spare_memory {
public:
    static void* take(size_t bytes) {
        for (size_t i = count_; i-- > 0;) {
            if (blocks_[i].bytes == bytes) {
                return remove(i);
            }
        }
        return fresh_memory(bytes);
    }
    static void give(void* memory, size_t bytes) {
        if (memory == nullptr || thread_ends_) { // static tensors end later
            ::operator delete(memory, buffer_alignment);
            return;
        }
        static thread_local release const at_end;
        while (count_ == most || kept_bytes_ + bytes > most_spare_bytes) {
            ::operator delete(remove(0), buffer_alignment); // the oldest
        }
        blocks_[count_++] = {memory, bytes};
        kept_bytes_ += bytes;
    }

private:
    struct block {
        void* memory;
        size_t bytes;
    };
    static constexpr size_t most = 32;

    static void* remove(size_t i) {
        block const removed = blocks_[i];
        for (--count_; i != count_; ++i) {
            blocks_[i] = blocks_[i + 1];
        }
        kept_bytes_ -= removed.bytes;
        return removed.memory;
    }

    struct release {
        release() = default;
        release(release const&) = delete;
        release& operator=(release const&) = delete;
        ~release() {
            while (count_ > 0) {
                ::operator delete(remove(count_ - 1), buffer_alignment);
            }
            thread_ends_ = true;
        }
    };

    static inline thread_local block blocks_[most];
    static inline thread_local size_t count_ = 0;
    static inline thread_local size_t kept_bytes_ = 0;
    static inline thread_local bool thread_ends_ = false;
};

} // namespace castnet::detail
