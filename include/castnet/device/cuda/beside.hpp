// Two independent kernels as one launch, side by side in its grid.
#pragma once

#include <castnet/device/cuda/launch.hpp>

namespace castnet::cuda {

// The blocks of a grid from `first` on, `count` of them.
template <class Block>
struct block_beside {
    static constexpr bool has_all_threads = Block::has_all_threads;
    Block const& block;
    unsigned first, count;

    CASTNET_HD unsigned thread() const { return block.thread(); }
    CASTNET_HD unsigned threads() const { return block.threads(); }
    CASTNET_HD unsigned index() const { return block.index() - first; }
    CASTNET_HD unsigned blocks() const { return count; }
};

// Bodies that need neither shared memory nor a barrier.
template <class First, class Second>
struct beside_body {
    First first;
    Second second;
    unsigned blocks; // of the first

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        if constexpr (Block::has_all_threads) {
            if (block.index() < blocks) {
                first(block_beside<Block>{block, 0, blocks});
            } else {
                second(block_beside<Block>{block, blocks, block.blocks() - blocks});
            }
        } else { // one block, which does all of the work
            first(block);
            second(block);
        }
    }
};

template <class First, class Second>
auto beside(kernel_call<First> const& first, kernel_call<Second> const& second) {
    unsigned const blocks = first.where.blocks;
    return kernel_call<beside_body<First, Second>>{{blocks + second.where.blocks, block_threads, 0},
                                                   {first.body, second.body, blocks}};
}

} // namespace castnet::cuda
