// Batch normalisation over everything but the channels (Ioffe & Szegedy 2015; PyTorch's BatchNorm).
//
// Parameters: weight (gamma, ones), bias (beta, zeros); statistics running_mean (zeros) and
// running_var (ones), all of shape (channels). In training the mean and the (biased) variance are
// those of the samples that are present, each counted once whatever its weight; the running
// variance takes the unbiased one. In evaluation, and where frozen, the running statistics are used.
#pragma once

#include <castnet/graph/reduce.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

struct batch_norm_layer {
    double epsilon = 1e-5;
    double momentum = 0.1; // running += momentum * (batch - running); Keras' momentum is 1 - this

    constexpr batch_norm_layer with_epsilon(double value) const { return {value, momentum}; }
    constexpr batch_norm_layer with_momentum(double value) const { return {epsilon, value}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        graph& g = *x.g;
        int const channels = g.nodes[x.id].size.channels;
        constexpr size_t c = S::rank == 3 ? S::extent[0] : S::extent[S::rank - 1];
        using vector = shape<c>;
        scope_guard const scope{g, layer_kind{"batch_norm"}};
        auto const gamma = new_parameter<vector>(g, "weight", {role::vector, ones});
        auto const beta = new_parameter<vector>(g, "bias", {role::vector, zeros});
        parameter_options statistic{role::statistic, zeros};
        statistic.trainable = false;
        auto const running_mean = new_parameter<vector>(g, "running_mean", statistic);
        statistic.start = ones;
        auto const running_var = new_parameter<vector>(g, "running_var", statistic);

        if (!g.training || g.path.frozen > 0) {
            return normalized(x, running_mean, running_var, gamma, beta, -1);
        }
        extents const per_channel{false, 1, channels};
        node share = graph::shaped<shape<>>(op::presence, true);
        share.scalar = 1.0 / double(S::count / c);
        int const weight = g.push(share);
        auto const batch_mean = [&](int value) {
            extents const all = g.nodes[x.id].size;
            int const operands[] = {value, weight};
            int const product = g.push(map_node(g, fn::multiply, all, operands, 2));
            return symbol<vector>{&g, g.push(reduce_node(product, reduction::sum, per_channel))};
        };
        auto const mean = batch_mean(x.id);
        auto const var = batch_mean(square(x - as_axis<S>(mean)).id);

        auto const n = symbol<shape<>>{&g, g.push(graph::shaped<shape<>>(op::present_count, false))} *
                       double(S::count / c);
        auto const unbiased = var * (n / maximum(n - 1, 1));
        update(running_mean, lerp(running_mean, mean, momentum));
        update(running_var, lerp(running_var, unbiased, momentum));
        return normalized(x, mean, var, gamma, beta, weight);
    }

private:
    template <class S, class V>
    static constexpr auto as_axis(V v) {
        if constexpr (S::rank == 3) {
            return along_channels(v);
        } else {
            return v;
        }
    }

    template <class S, class V>
    constexpr symbol<S> normalized(symbol<S> x, V mean, V var, V gamma, V beta, int weight) const {
        auto const deviation = rsqrt(var + epsilon);
        auto const y = apply(function<fn::normalize>{}, x, as_axis<S>(mean), as_axis<S>(deviation),
                             as_axis<S>(gamma), as_axis<S>(beta));
        x.g->nodes[y.id].attribute = weight;
        return y;
    }

    template <class V>
    static constexpr void update(V statistic, V value) {
        graph& g = *statistic.g;
        g.updates.push({g.nodes[statistic.id].attribute, value.id});
    }
};
inline constexpr batch_norm_layer batch_norm{};

} // namespace castnet
