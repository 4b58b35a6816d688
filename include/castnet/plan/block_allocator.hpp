// Best-fit allocator of memory blocks that are reused after their last read.
#pragma once

#include <castnet/core/list.hpp>
#include <castnet/plan/memory.hpp>

#include <cstddef>

namespace castnet::ir {

// Returns offsets of blocks whose lifetimes [first, last] are known, in the order of `first`.
// Free gaps are kept sorted by offset; a block takes the smallest that fits. The time is linear in
// the number of blocks times the (small) number of gaps.
class block_allocator {
public:
    constexpr block_allocator(int launches, std::ptrdiff_t unit = cpu_alignment,
                              std::ptrdiff_t begin = 0)
        : alignment_{unit} {
        restart(launches, begin);
    }

    // As a new allocator, with the memory of this one.
    constexpr void restart(int launches, std::ptrdiff_t begin = 0) {
        gaps_.clear();
        gaps_.push({begin, std::ptrdiff_t{1} << 60});
        blocks_.clear();
        ending_.clear();
        ending_.append(-1, launches + 1);
        peak_ = begin;
        now_ = 0;
    }

    // Frees the blocks whose last reader was before `launch`. To be called with rising launches.
    constexpr void advance_to(int launch) {
        block const* const blocks = blocks_.data(); // compilers count each call of an operator
        for (int const* const ending = ending_.data(); now_ < launch; ++now_) {
            for (int b = ending[now_]; b >= 0; b = blocks[b].next) {
                if (blocks[b].size > 0) {
                    release(blocks[b].offset, blocks[b].size);
                }
            }
        }
    }

    // A block of `elements` that is read until `last`; returns its number.
    constexpr int allocate(std::ptrdiff_t elements, int last) {
        std::ptrdiff_t const size = aligned(elements, alignment_);
        gap* const gaps = gaps_.data();
        int best = gaps_.size() - 1; // the last gap has no end
        for (int i = best - 1; i >= 0; --i) {
            best = gaps[i].size >= size && gaps[i].size <= gaps[best].size ? i : best;
        }
        std::ptrdiff_t const offset = gaps[best].offset;
        gaps[best].offset += size;
        gaps[best].size -= size;
        if (gaps[best].size == 0) {
            gaps_.erase(best);
        }
        if (offset + size > peak_) {
            peak_ = offset + size;
        }
        return enter(offset, size, last);
    }

    // The memory of block `b`, whose last reader is the present launch, goes on as a new block.
    constexpr int take_over(int b, int last) {
        block& old = blocks_[b];
        std::ptrdiff_t const size = old.size;
        old.size = 0;
        return enter(old.offset, size, last);
    }

    constexpr std::ptrdiff_t offset(int b) const { return blocks_[b].offset; }
    constexpr std::ptrdiff_t size(int b) const { return blocks_[b].size; }
    constexpr std::ptrdiff_t peak() const { return peak_; }

private:
    struct gap {
        std::ptrdiff_t offset, size;
    };
    struct block {
        std::ptrdiff_t offset, size;
        int next; // another block that ends at the same launch
    };

    constexpr int enter(std::ptrdiff_t offset, std::ptrdiff_t size, int last) {
        int& head = ending_[last];
        blocks_.push({offset, size, head});
        return head = blocks_.size() - 1;
    }

    constexpr void release(std::ptrdiff_t offset, std::ptrdiff_t size) {
        gap* const gaps = gaps_.data();
        int i = gaps_.size() - 1; // the last gap lies after all blocks
        for (int first = 0; first < i;) {
            int const middle = (first + i) / 2;
            (gaps[middle].offset < offset ? first : i) =
                gaps[middle].offset < offset ? middle + 1 : middle;
        }
        bool const left = i > 0 && gaps[i - 1].offset + gaps[i - 1].size == offset;
        bool const right = offset + size == gaps[i].offset;
        if (left && right) {
            gaps[i - 1].size += size + gaps[i].size;
            gaps_.erase(i);
        } else if (left) {
            gaps[i - 1].size += size;
        } else if (right) {
            gaps[i].offset = offset;
            gaps[i].size += size;
        } else {
            gaps_.insert(i, {offset, size});
        }
    }

    list<gap> gaps_;
    list<block> blocks_;
    list<int> ending_;
    std::ptrdiff_t alignment_;
    std::ptrdiff_t peak_ = 0;
    int now_ = 0;
};

} // namespace castnet::ir
