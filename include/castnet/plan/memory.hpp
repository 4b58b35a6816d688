// Memory of a step: regions, offsets, and an allocator of blocks that are reused after their last
// read.
#pragma once

#include <castnet/core/list.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet {

// The parts of a network's memory. Offsets are counted in elements and are multiples of the
// device's `alignment`.
enum class region : std::uint8_t {
    parameters, // trainable parameters, then frozen ones and running statistics
    gradients,  // in the order of the trainable parameters
    batch,      // inputs, targets, sample weights of the step
    workspace   // activations, their gradients, results, scratch memory of kernels
};

// A contiguous piece of memory of a step.
struct element_range {
    region where{};
    std::ptrdiff_t offset = 0, count = 0; // elements
};

inline constexpr std::ptrdiff_t cpu_alignment = 16; // elements: vectors of every type

constexpr std::ptrdiff_t aligned(std::ptrdiff_t elements, std::ptrdiff_t unit = cpu_alignment) {
    return (elements + unit - 1) / unit * unit;
}

// Hands out offsets to blocks whose lifetimes [first, last] are known, in the order of `first`.
// Free gaps are kept sorted by offset; a block takes the smallest that fits. The time is linear in
// the number of blocks times the (small) number of gaps.
class block_allocator {
public:
    constexpr block_allocator(int steps, std::ptrdiff_t unit = cpu_alignment,
                              std::ptrdiff_t begin = 0)
        : ending_{list<int>::filled(steps + 1, -1)}, alignment_{unit}, peak_{begin} {
        gaps_.push({begin, std::ptrdiff_t{1} << 60});
    }

    // Frees the blocks whose last reader was before `step`. To be called with rising steps.
    constexpr void advance_to(int step) {
        for (; now_ < step; ++now_) {
            for (int b = ending_[now_]; b >= 0; b = blocks_[b].next) {
                if (blocks_[b].size > 0) {
                    release(blocks_[b].offset, blocks_[b].size);
                }
            }
        }
    }

    // A block of `elements` that is read until `last`; returns its number.
    constexpr int allocate(std::ptrdiff_t elements, int last) {
        std::ptrdiff_t const size = aligned(elements, alignment_);
        int best = gaps_.size();
        for (int i = 0; i < gaps_.size(); ++i) {
            if (gaps_[i].size >= size &&
                (best == gaps_.size() || gaps_[i].size < gaps_[best].size)) {
                best = i;
            }
        }
        std::ptrdiff_t const offset = gaps_[best].offset;
        gaps_[best].offset += size;
        gaps_[best].size -= size;
        if (gaps_[best].size == 0) {
            gaps_.erase(best);
        }
        if (offset + size > peak_) {
            peak_ = offset + size;
        }
        return enter(offset, size, last);
    }

    // The memory of block `b`, whose last reader is the present step, goes on as a new block.
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
        int next; // another block that ends at the same step
    };

    constexpr int enter(std::ptrdiff_t offset, std::ptrdiff_t size, int last) {
        int& head = ending_[last];
        blocks_.push({offset, size, head});
        return head = blocks_.size() - 1;
    }

    constexpr void release(std::ptrdiff_t offset, std::ptrdiff_t size) {
        int i = 0;
        while (i < gaps_.size() && gaps_[i].offset < offset) {
            ++i;
        }
        bool const left = i > 0 && gaps_[i - 1].offset + gaps_[i - 1].size == offset;
        bool const right = i < gaps_.size() && offset + size == gaps_[i].offset;
        if (left && right) {
            gaps_[i - 1].size += size + gaps_[i].size;
            gaps_.erase(i);
        } else if (left) {
            gaps_[i - 1].size += size;
        } else if (right) {
            gaps_[i].offset = offset;
            gaps_[i].size += size;
        } else {
            gaps_.insert(i, {offset, size});
        }
    }

    list<gap> gaps_;
    list<block> blocks_;
    list<int> ending_;
    std::ptrdiff_t alignment_;
    std::ptrdiff_t peak_;
    int now_ = 0;
};

} // namespace castnet
