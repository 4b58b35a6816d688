// Report of the communication in a training step: exact numbers of collectives and bytes, and a
// model of the time that they take.
#pragma once

#include <castnet/train/training.hpp>

namespace castnet {

// Network between the replicas: latency of a message, and bandwidth of each replica.
struct connection {
    double latency = 0;   // s
    double bandwidth = 0; // bytes / s
};

template <class Training>
struct communication_report {
    using strategies = typename Training::strategies;
    using value_type = typename Training::value_type;
    using exchanges = typename Training::exchanges;

    // Collectives of a step: sums that the step needs on its way (batch statistics; where these are
    // local, running ones), buckets of gradients, one of parameters unless every replica updates
    // them all, one for the norm of the gradient if shards of it are clipped (clip_norm), and one
    // for loss and metrics.
    static constexpr int sums = exchanges::count_of(false) * strategies::micro_batches;
    static constexpr int buckets = exchanges::count_of(true);
    static constexpr int updates = strategies::updates_all ? 0 : 1;
    static constexpr int norms =
        strategies::sharded_optimizer &&
        NeedsNorm<detail::rule_of<typename Training::optimizer_type, value_type>>;
    static constexpr int collectives = sums + buckets + updates + norms + 1;

    // Bytes of every replica's data in these collectives.
    static constexpr std::size_t sum_bytes =
        exchanges::bytes_of(false) * std::size_t(strategies::micro_batches);
    static constexpr std::size_t gradient_bytes =
        strategies::bfloat16_gradients
            ? exchanges::bytes_of(true) / sizeof(value_type) * sizeof(bfloat16)
            : exchanges::bytes_of(true);
    static constexpr std::size_t update_bytes = std::size_t(updates) *
                                                std::size_t(Training::training_plan().trainable) *
                                                sizeof(value_type);
    static constexpr std::size_t total_bytes = (Training::scores_type::sums + 1) * sizeof(double);
    static constexpr std::size_t norm_bytes = norms * sizeof(double);
    static constexpr std::size_t bytes =
        sum_bytes + gradient_bytes + update_bytes + norm_bytes + total_bytes;

    // Bytes that each of n replicas sends in a step, or the busiest one if they differ. An
    // all-reduce is a ring, or made in parts: 2 (n - 1) / n of a replica's data; with a sharded
    // optimizer, gradients and parameters go half of that way. A parameter server sends all
    // parameters to each of the others.
    static constexpr double bytes_sent(int replicas) {
        double const others = replicas - 1, share = others / replicas;
        double const shared = 2 * share * double(sum_bytes + norm_bytes + total_bytes);
        if (strategies::parameter_server) {
            return shared + others * double(update_bytes);
        }
        return shared + share * double(strategies::sharded_optimizer ? gradient_bytes + update_bytes
                                                                     : 2 * gradient_bytes);
    }

    // A model, no measurement: the seconds of a step's collectives, one after the other, without
    // overlap with computation.
    static constexpr double seconds(int replicas, connection const& c) {
        int const ways =
            2 * (sums + norms + 1) + (strategies::updates_all ? 2 * buckets : buckets + 1);
        double const to_server =
            strategies::parameter_server ? (replicas - 1) * double(gradient_bytes) : 0;
        return (replicas - 1) * ways * c.latency + (bytes_sent(replicas) + to_server) / c.bandwidth;
    }
    // Parallel efficiency, the share of time spent computing: with `batch` samples per replica and
    // step, and replicas of this speed in floating-point operations per second.
    static constexpr double efficiency(int replicas, double batch, double flops,
                                       connection const& c) {
        double const computing = batch * double(Training::flops_per_sample) / flops;
        return computing / (computing + seconds(replicas, c));
    }
    // Samples per replica and step from which this many replicas are faster than one.
    static constexpr double break_even_batch(int replicas, double flops, connection const& c) {
        double const sample = double(Training::flops_per_sample) / flops;
        return replicas > 1 ? seconds(replicas, c) / (sample * (replicas - 1)) : 0;
    }
};

} // namespace castnet
