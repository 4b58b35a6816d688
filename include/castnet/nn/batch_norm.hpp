// Batch normalisation over all axes but the channels (Ioffe & Szegedy 2015; PyTorch's BatchNorm).
//
// Parameters, unless .no_affine(): weight (gamma, ones), bias (beta, zeros); statistics
// running_mean (zeros) and running_var (ones), all of shape (channels). In training it uses the
// mean and the (biased) variance of the samples that are present, each counted once whatever its
// weight; the running variance is updated with the unbiased one. A single value per channel, as the
// last batch of an epoch may have, has none, so the running variance stays (PyTorch throws); and
// nothing before the layer learns of it, since it is its own mean. The variance is the mean of the
// squared distances from the mean, both summed in the element type: it is too large by the square
// of the mean's rounding error, which matters in float if the mean is thousands of deviations or
// more. (On a GPU both are one pass, of the distances from the running mean; see
// graph/one_pass_statistics.hpp.) In evaluation and in frozen layers it uses the running
// statistics.
#pragma once

#include <castnet/nn/batch_mean.hpp>
#include <castnet/nn/statistic.hpp>

namespace castnet {

struct batch_norm_layer {
    static constexpr char const* name = "batch_norm";
    double epsilon = 1e-5;
    double momentum = 0.1; // running += momentum * (batch - running); Keras' momentum is 1 - this
    bool has_affine = true;

    constexpr batch_norm_layer with_epsilon(double value) const {
        return {value, momentum, has_affine};
    }
    constexpr batch_norm_layer with_momentum(double value) const {
        return {epsilon, value, has_affine};
    }
    // Without weight and bias: PyTorch's affine=False.
    constexpr batch_norm_layer no_affine() const { return {epsilon, momentum, false}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        ir::graph& g = *x.g;
        constexpr size_t channels = channels_of<S>;
        constexpr double pixels = double(pixels_of<S>);
        using vector = shape<channels>;
        scope_guard const scope{g, layer_kind{"batch_norm"}};
        g.expect(detail::is_finite_not_negative(epsilon), mistake::epsilon_of_norm);
        g.expect(momentum >= 0 && momentum <= 1, mistake::momentum_of_norm);
        auto const number = [&](char const* which, initializer start, double value) {
            parameter_options const options{role::vector, start};
            return has_affine ? new_parameter<vector>(g, which, options).id
                              : constant_node(g, value);
        };
        int const gamma = number("weight", ones, 1), beta = number("bias", zeros, 0);
        auto const running_mean = new_statistic<vector>(g, "running_mean");
        auto const running_var = new_statistic<vector>(g, "running_var", ones);

        ir::extents const per_channel{false, 1, int(channels)};
        int mean = running_mean.id, var = running_var.id, share = -1;
        if (g.trains()) {
            share = detail::share_of_sample(g, 1 / pixels);
            mean = detail::sum_of_batch(g, x.id, share, per_channel);
            int const squared =
                map_node(g, fn::squared_difference, g.nodes[x.id].size, {x.id, mean});
            var = detail::sum_of_batch(g, squared, share, per_channel);
            int const samples = detail::count_of_samples(g);
            int const rate = constant_node(g, momentum);
            detail::set_next(g, running_mean.id,
                             map_node(g, fn::lerp, per_channel, {running_mean.id, mean, rate}),
                             true);
            detail::set_next(
                g, running_var.id,
                map_node(g, fn::running_variance, per_channel,
                         {running_var.id, var, samples, constant_node(g, pixels), rate}),
                true);
        }
        int const deviation =
            map_node(g, fn::inverse_deviation, per_channel, {var, constant_node(g, epsilon)});
        ir::node y = ir::graph::shaped<S>(op::map, true);
        y.function = fn::normalize;
        y.attribute = share;
        int const operands[] = {x.id, mean, deviation, gamma, beta};
        for (int id : operands) {
            y.in[y.operands++] = id;
        }
        return emit<S>(g, y);
    }
};
inline constexpr batch_norm_layer batch_norm{};

} // namespace castnet
