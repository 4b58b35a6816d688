// What the replicas of a training send each other in a step: exact numbers of collectives and
// bytes, and a model of the time that they take.
#pragma once

#include <castnet/plan/communication.hpp>
#include <castnet/train/training.hpp>

namespace castnet {

// What connects the replicas: time until a message begins to arrive, and bytes that each sends in a
// second.
struct connection {
    double latency = 0;   // s
    double bandwidth = 0; // bytes / s
};

template <class Training>
struct communication_report {
    using exchanges =
        communication_of<Training::training_plan, sizeof(typename Training::value_type)>;

    // Collectives of a step: sums that the step needs on its way (batch statistics), buckets of
    // gradients, and one for loss and metrics.
    static constexpr int sums = exchanges::count_of(false);
    static constexpr int buckets = exchanges::count_of(true);
    static constexpr int collectives = sums + buckets + 1;

    // Bytes that every replica brings to them.
    static constexpr std::size_t sum_bytes = exchanges::bytes_of(false);
    static constexpr std::size_t gradient_bytes = exchanges::bytes_of(true);
    static constexpr std::size_t total_bytes = (Training::scores_type::count + 1) * sizeof(double);
    static constexpr std::size_t bytes = sum_bytes + gradient_bytes + total_bytes;

    // Bytes that each of so many replicas sends in a step where sums go around a ring, or are made
    // in parts: 2 (n - 1) / n of what it brings.
    static constexpr double bytes_sent(int replicas) {
        return 2.0 * (replicas - 1) / replicas * double(bytes);
    }

    // A model, no measurement: the seconds of a step's collectives, one after the other, none
    // hidden behind computing.
    static constexpr double seconds(int replicas, connection const& c) {
        return 2.0 * (replicas - 1) * collectives * c.latency + bytes_sent(replicas) / c.bandwidth;
    }
    // The part of the time that replicas compute, each with `batch` samples of a step, if one
    // makes so many floating-point operations in a second.
    static constexpr double efficiency(int replicas, double batch, double flops,
                                       connection const& c) {
        double const computing = batch * double(Training::flops_per_sample) / flops;
        return computing / (computing + seconds(replicas, c));
    }
    // Samples per replica and step from which so many replicas are faster than one alone.
    static constexpr double break_even_batch(int replicas, double flops, connection const& c) {
        double const sample = double(Training::flops_per_sample) / flops;
        return replicas > 1 ? seconds(replicas, c) / (sample * (replicas - 1)) : 0;
    }
};

} // namespace castnet
