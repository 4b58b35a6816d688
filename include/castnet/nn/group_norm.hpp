// Group normalisation (Wu & He 2018; PyTorch's GroupNorm) and instance normalisation (Ulyanov et
// al. 2016; PyTorch's InstanceNorm): each sample by itself, in training as in evaluation, over all
// pixels of an image (rows of a sequence) and over the channels of a group, or of each channel.
//
// Parameters, where there are any: weight (ones) and bias (zeros) of shape (channels). The variance
// is the mean of the squared distances from the mean.
#pragma once

#include <castnet/nn/layer_norm.hpp>

namespace castnet {

namespace detail {

// Per channel of a sample, the mean over all pixels and over the channels of the same group.
template <size_t Groups, Shape S>
constexpr auto group_mean(symbol<S> x) {
    constexpr size_t channels = channels_of<S>, pixels = pixels_of<S>;
    auto const of_pixels =
        reduced<shape<channels>>(x, ir::reduction::sum, 1.0 / static_cast<double>(pixels));
    if constexpr (Groups == channels) {
        return along_channels<S>(of_pixels);
    } else {
        using grouped = shape<Groups, channels / Groups>;
        ir::graph& g = *x.g;
        auto const of_groups = mean_channels(reshaped(of_pixels, grouped{}));
        symbol<grouped> const of_channels{
            &g, map_node(g, fn::add, ir::space_of<grouped>, {of_groups.id, constant_node(g, 0)})};
        return along_channels<S>(reshaped(of_channels, shape<channels>{}));
    }
}

template <size_t Groups, Shape S>
constexpr symbol<S> group_normalized(symbol<S> x, double epsilon, bool affine) {
    auto const mean = group_mean<Groups>(x);
    auto const variance = group_mean<Groups>(elementwise<fn::squared_difference>{}(x, mean));
    return normalized(x, mean, variance, epsilon, affine, affine);
}

} // namespace detail

template <size_t Groups, size_t Channels>
inline constexpr bool groups_divide_channels = Groups > 0 && Channels % Groups == 0;

// The channels in Groups groups of neighbours. (Keras' GroupNormalization has epsilon 1e-3.)
template <size_t Groups>
struct group_norm_layer {
    static constexpr char const* name = "group_norm";
    double epsilon = 1e-5;
    bool has_affine = true;

    constexpr group_norm_layer with_epsilon(double value) const { return {value, has_affine}; }
    // Without weight and bias: PyTorch's affine=False.
    constexpr group_norm_layer no_affine() const { return {epsilon, false}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(groups_divide_channels<Groups, channels_of<S>>,
                      "castnet: group_norm: the channels (features) cannot be divided into so many "
                      "groups of the same size; see groups_divide_channels<groups, channels>");
        if constexpr (groups_divide_channels<Groups, channels_of<S>>) {
            scope_guard const scope{*x.g, layer_kind{name}};
            return detail::group_normalized<Groups>(x, epsilon, has_affine);
        } else {
            return x;
        }
    }
};
template <size_t Groups>
inline constexpr group_norm_layer<Groups> group_norm{};

template <class Input>
inline constexpr bool has_pixels = pixels_of<Input> > 1;

// Each channel by itself; without weight and bias unless .affine() asks for them. (PyTorch's
// defaults. It has no running statistics; Keras writes GroupNormalization(groups=-1).)
struct instance_norm_layer {
    static constexpr char const* name = "instance_norm";
    double epsilon = 1e-5;
    bool has_affine = false;

    constexpr instance_norm_layer with_epsilon(double value) const { return {value, has_affine}; }
    constexpr instance_norm_layer affine() const { return {epsilon, true}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(
            has_pixels<S>,
            "castnet: instance_norm needs an image (channels, height, width) or a sequence "
            "(time, features), of more than one pixel (row): the only value of a channel "
            "would become 0; see has_pixels<input shape>");
        scope_guard const scope{*x.g, layer_kind{name}};
        return detail::group_normalized<channels_of<S>>(x, epsilon, has_affine);
    }
};
inline constexpr instance_norm_layer instance_norm{};

} // namespace castnet
