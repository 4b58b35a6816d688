// Micro-batches of a step: the batches whose gradients add up to one update.
#pragma once

#include <castnet/comm/collective.hpp>
#include <castnet/train/collate.hpp>
#include <castnet/train/sample_checks.hpp>
#include <castnet/train/step_exchanges.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace castnet::detail {

// In the order in which the replicas compute them together. A batch whose samples all have weight 0
// is left out, since it would change running statistics.
template <class Replica>
struct micro_batches {
    using strategies = typename Replica::strategies;
    static constexpr int count = strategies::micro_batches;

    template <class Data>
    micro_batches(Data const& data, std::span<size_t const> samples,
                  std::span<float const> class_weight) {
        for (int k = 0; k < count; ++k) {
            part[k] = comm::part_of(samples.size(), k, count);
            auto const all =
                Replica::weigh(data, samples.subspan(part[k].first, part[k].count()), class_weight);
            present[k] = all.present;
            weight += all.sum;
            last = all.present > 0 ? k : last;
        }
        checked_weight_sum(weight);
    }

    // One step of a single replica.
    template <class Data, class Rule>
    void train(Replica& r, Data const& data, std::span<size_t const> samples,
               std::span<float const> class_weight, std::uint64_t step, Rule const& rule) const {
        bool is_first = true;
        for_each_batch(
            r, samples,
            [&](int, std::span<size_t const> batch) {
                return r.template collate<Replica::training_plan()>(data, batch, class_weight);
            },
            [&](int k, batch_weight const&) {
                r.train_batch(part[k].first, std::exchange(is_first, false), k == last, step, rule,
                              weight);
            });
    }

    // One step of one of several replicas; returns the weight of its samples. What reads data is
    // called by reading().
    template <class Communicator, class Data, class Rule, class Reading>
    double train_with(Replica& r, Communicator& others, Data const& data,
                      std::span<size_t const> samples, std::span<float const> class_weight,
                      std::uint64_t step, Rule const& rule, Reading const& reading) const {
        double own_weight = 0;
        comm::part mine{};
        for_each_batch(
            r, samples,
            [&](int k, std::span<size_t const> batch) {
                mine = comm::part_of(batch.size(), others.rank(), others.size());
                std::optional<size_t> of_all = present[k];
                if constexpr (strategies::local_batch_norm) {
                    of_all.reset();
                }
                return reading([&] {
                    return r.template collate<Replica::training_plan()>(
                        data, batch, mine.first, mine.count(), class_weight, of_all);
                });
            },
            [&](int k, batch_weight const& filled) {
                r.train_with(others,
                             {std::ptrdiff_t(mine.count()), part[k].first + mine.first,
                              double(filled.present) / double(present[k]), k == last},
                             step, rule, weight);
                own_weight += filled.sum;
            });
        return own_weight;
    }

    comm::part part[size_t(count)];
    size_t present[size_t(count)]; // samples with a weight above 0
    int last = 0;                  // of those with such samples
    double weight = 0;             // of all samples

private:
    // For each batch with samples, collate(k, samples), and run(k, …) with what that returns. Where
    // one of them throws, running statistics and totals are as they were before the step.
    template <class Collate, class Run>
    void for_each_batch(Replica& r, std::span<size_t const> samples, Collate const& collate,
                        Run const& run) const {
        bool kept = false;
        try {
            for (int k = 0; k <= last; ++k) {
                if (present[k] == 0) {
                    continue;
                }
                batch_weight const filled =
                    collate(k, samples.subspan(part[k].first, part[k].count()));
                // Other replicas may still fail where statistics do not wait for theirs.
                if (!kept && (k < last || strategies::local_batch_norm)) {
                    r.keep_statistics();
                    kept = true;
                }
                run(k, filled);
            }
        } catch (...) {
            if (kept) {
                r.bring_back_statistics();
            }
            throw;
        }
    }
};

} // namespace castnet::detail
