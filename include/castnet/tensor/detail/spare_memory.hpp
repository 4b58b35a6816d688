// Blocks of memory that tensors of one size left, kept for the next ones. Pages that come fresh
// from the system take longer than most expressions, and C libraries return large blocks at once.
#pragma once

#include <castnet/core/shape.hpp>

#include <new>

namespace castnet::detail {

inline constexpr std::align_val_t buffer_alignment{64};

// The sizes that are kept: C libraries keep smaller blocks themselves, and larger ones are too much
// to hold on to. This is also how much a thread keeps of all sizes together.
inline constexpr size_t least_spare_bytes = size_t{1} << 16, most_spare_bytes = size_t{1} << 26;
inline thread_local size_t spare_bytes = 0; // that this thread keeps

// Two blocks of each size at most, by each thread until it ends.
template <size_t Bytes>
class spare_memory {
public:
    static void* take() {
        if (count_ == 0) {
            return ::operator new(Bytes, buffer_alignment);
        }
        spare_bytes -= Bytes;
        return blocks_[--count_];
    }
    static void give(void* block) {
        if (block == nullptr || count_ == most || thread_ends_ ||
            spare_bytes + Bytes > most_spare_bytes) {
            ::operator delete(block, buffer_alignment);
            return;
        }
        static thread_local release const at_end;
        blocks_[count_++] = block;
        spare_bytes += Bytes;
    }

private:
    static constexpr size_t most = 2;

    struct release {
        release() = default;
        release(release const&) = delete;
        release& operator=(release const&) = delete;
        ~release() {
            while (count_ > 0) {
                ::operator delete(blocks_[--count_], buffer_alignment);
            }
            thread_ends_ = true; // static tensors end later
        }
    };

    static inline thread_local void* blocks_[most];
    static inline thread_local size_t count_ = 0;
    static inline thread_local bool thread_ends_ = false;
};

} // namespace castnet::detail
