// Shuffling of an image's channels between groups, channel_shuffle<Groups> (Zhang et al. 2018;
// PyTorch's ChannelShuffle).
#pragma once

#include <castnet/nn/permute.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

template <class Input, size_t Groups>
inline constexpr bool has_channel_groups = false;
template <Shape S, size_t Groups>
    requires is_image<S>
inline constexpr bool has_channel_groups<S, Groups> = Groups > 0 && channels_of<S> % Groups == 0;

// An image (channels, height, width) whose channels are those of Groups groups of neighbours, the
// first ones of all groups, then the second ones, and so on: what convolutions in groups computed
// apart meets in each group of the next one.
template <size_t Groups>
struct channel_shuffle_layer {
    static constexpr char const* name = "channel_shuffle";

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(has_channel_groups<S, Groups>,
                      "castnet: channel_shuffle needs an image (channels, height, width) whose "
                      "channels are a multiple of the groups; see has_channel_groups<input shape, "
                      "groups>");
        if constexpr (has_channel_groups<S, Groups>) {
            constexpr int groups = static_cast<int>(Groups);
            constexpr int each = static_cast<int>(channels_of<S>) / groups;
            if constexpr (groups > 1 && each > 1) {
                ir::node n; // in memory, the channels of each pixel are a matrix (groups, each)
                n.kind = op::transpose;
                n.size = ir::space_of<S>;
                n.attribute = x.g->add_window(detail::exchange(groups, each, 1));
                n.in[n.operands++] = detail::sample_id(x);
                return {x.g, x.g->push(n)};
            }
        }
        return x;
    }
};
template <size_t Groups>
inline constexpr channel_shuffle_layer<Groups> channel_shuffle{};

} // namespace castnet
