// Training step of one of several replicas, with collectives in the host's memory.
#pragma once

#include <castnet/device/launches.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/train/exchanging_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace castnet {

// The engine of replicas in the host's memory (train/exchanging_step.hpp).
template <class Device, class Exchanges>
class host_step {
    using T = typename Device::value_type;
    using compiled = typename Exchanges::compiled;
    using strategy = typename Exchanges::strategy;
    static constexpr size_t trained = Exchanges::trained;
    static constexpr ir::element_range all_gradients{ir::region::gradients, 0,
                                                     std::ptrdiff_t(trained)};

public:
    using executor = typename Device::executor;
    static constexpr bool sums_totals = false;

    explicit host_step(int replicas)
        : kept_at_{Exchanges::kept_at(replicas)},
          slot_elements_{Exchanges::slot_elements(replicas)} {}

    template <class Communicator, class Rule>
    void train(executor& e, Communicator& others, samples_of_step const& now, std::uint64_t step,
               Rule const& rule, T scale) {
        // All other strategies access the memory of the device directly.
        constexpr bool by_messages = strategy::updates_all && !strategy::local_batch_norm;
        constexpr bool has_strategy =
            by_messages || requires { requires executor::in_host_memory; };
        static_assert(
            has_strategy,
            "castnet: with policy::host_reduction and policy::logical on a GPU, of the strategies "
            "there are all_reduce, accumulate and bfloat16_gradients; the others need NCCL");
        if constexpr (has_strategy) {
            run(e, others, now, step);
            e.template add_totals<compiled::value>();
            if (now.is_last) {
                update(e, others, rule, scale, step);
            }
        }
    }

private:
    // Forward and backward. With the last samples of the step, the collectives of the gradients are
    // begun.
    template <class Communicator>
    void run(executor& e, Communicator& others, samples_of_step const& now, std::uint64_t step) {
        auto const all = Exchanges::all();
        size_t next = 0;
        int buckets = 0;
        auto const exchange_until = [&](int i) {
            others.progress();
            for (; next < all.size() && all[next].after <= i; ++next) {
                auto const ranges = Exchanges::ranges_of(all[next]);
                if (!all[next].gradients) {
                    char const* const what =
                        all[next].statistics ? "mean of running statistics" : "sum over the batch";
                    if (all[next].statistics) {
                        weigh(e, ranges, now.share);
                    }
                    others.sum(e.message(next, ranges), {what, sums_++, step});
                    e.accept(next, ranges);
                } else if (now.is_last) { // which no step reads
                    if constexpr (strategy::micro_batches > 1) {
                        add_kept(e, ranges);
                    }
                    begin_bucket(others, next, e.message(next, ranges),
                                 {"sum of gradients, bucket", buckets++, step});
                }
            }
        };
        e.set_first_sample(std::uint32_t(now.first));
        e.template run<compiled::value>(now.count, step, ir::after_stages{exchange_until});
        if constexpr (strategy::micro_batches > 1) {
            if (!now.is_last) {
                keep_gradients(e);
            }
        }
    }

    // Waits for the gradients and applies the optimizer's rule.
    template <class Communicator, class Rule>
    void update(executor& e, Communicator& others, Rule const& rule, T scale, std::uint64_t step) {
        auto const all = Exchanges::all();
        others.finish();
        for (size_t k = 0; k < all.size(); ++k) {
            if (all[k].gradients) {
                end_bucket(k);
                e.accept(k, Exchanges::ranges_of(all[k]));
            }
        }
        if constexpr (strategy::micro_batches > 1) { // those that needed no exchange
            add_kept(e, {&all_gradients, 1});
            keeps_ = false;
        }
        sums_ = 0;
        auto const now = with_norm(e, others, rule, scale, step);
        if constexpr (strategy::updates_all) {
            e.template update<compiled::value, Exchanges::slots>(now, scale);
        } else {
            auto const who = Exchanges::updated_by();
            auto const mine = who.of(trained, others.rank(), others.size());
            e.template update<compiled::value, Exchanges::slots>(
                now, scale, std::ptrdiff_t(mine.first), std::ptrdiff_t(mine.last),
                std::ptrdiff_t(slot_elements_));
            others.begin_share(std::span{e.at(ir::region::parameters), trained}, who,
                               {"parameters from those who updated them", -1, step});
            others.finish();
        }
    }

    // The rule of the step, with the norm of the gradient if it needs that. Every strategy sums
    // squares by the shards of a sharded optimizer, so all have the same bits.
    template <class Communicator, class Rule>
    Rule with_norm([[maybe_unused]] executor& e, [[maybe_unused]] Communicator& others,
                   Rule const& rule, [[maybe_unused]] T scale,
                   [[maybe_unused]] std::uint64_t step) {
        if constexpr (NeedsNorm<Rule>) {
            auto const squares_of = [&](int rank) {
                comm::part const p = comm::owners::shard(trained, rank, others.size());
                return e.template squares<compiled::value>(scale, std::ptrdiff_t(p.first),
                                                           std::ptrdiff_t(p.last));
            };
            squares_.assign(strategy::sharded_optimizer ? 1 : size_t(others.size()), 0);
            if constexpr (strategy::sharded_optimizer) {
                squares_[0] = squares_of(others.rank());
                others.sum(std::span{squares_}, {"sum of squares of gradients", -1, step});
            } else if (strategy::updates_all || others.rank() == 0) { // others have no gradients
                for (int r = 0; r < others.size(); ++r) {
                    squares_[size_t(r)] = squares_of(r);
                }
                comm::detail::tree_sum([&](int r) { return &squares_[size_t(r)]; }, others.size(),
                                       0, 1);
            }
            return rule.with_norm(std::sqrt(squares_[0]));
        } else {
            return rule;
        }
    }

    template <class Communicator>
    void begin_bucket(Communicator& others, size_t k, std::span<T> values,
                      comm::collective const& at) {
        if constexpr (strategy::bfloat16_gradients) {
            rounded_.resize(Exchanges::all().size());
            message& m = rounded_[k];
            m.values = values;
            m.rounded.resize(values.size());
            std::transform(values.begin(), values.end(), m.rounded.begin(),
                           [](T x) { return bfloat16{float(x)}; });
            begin_sum(others, k, std::span{m.rounded}, at);
        } else {
            begin_sum(others, k, values, at);
        }
    }
    template <class Communicator, class Number>
    void begin_sum(Communicator& others, size_t k, std::span<Number> values,
                   comm::collective const& at) {
        if constexpr (strategy::updates_all) {
            others.begin_sum(values, at);
        } else if constexpr (strategy::sharded_optimizer) {
            pieces_.resize(Exchanges::all().size());
            std::vector<comm::part>& own = pieces_[k]; // of the parameters
            own.clear();
            for (ir::element_range const& r : Exchanges::ranges_of(Exchanges::all()[k])) {
                own.push_back(Exchanges::piece_of(r));
            }
            others.begin_reduce(values, Exchanges::updated_by(own), at);
        } else {
            others.begin_reduce(values, Exchanges::updated_by(), at);
        }
    }
    void end_bucket([[maybe_unused]] size_t k) {
        if constexpr (strategy::bfloat16_gradients) {
            message const& m = rounded_[k];
            std::transform(m.rounded.begin(), m.rounded.end(), m.values.begin(),
                           [](bfloat16 x) { return T(float(x)); });
        }
    }

    // Scales the running statistics updated by this replica's samples before their sum.
    static void weigh(executor& e, std::span<ir::element_range const> ranges, double share) {
        for (ir::element_range const& r : ranges) {
            T* const x = e.at(r.where) + r.offset;
            for (std::ptrdiff_t i = 0; i < r.count; ++i) {
                x[i] = share > 0 ? T(share) * x[i] : T(0); // NaN without samples
            }
        }
    }

    // Accumulated gradients lie after the optimizer's slots.
    void keep_gradients(executor& e) {
        e.keep_gradients(std::ptrdiff_t(kept_at_), all_gradients, !std::exchange(keeps_, true));
    }
    void add_kept(executor& e, std::span<ir::element_range const> ranges) {
        for (ir::element_range const& r : ranges) {
            if (keeps_) {
                e.take_kept(std::ptrdiff_t(kept_at_), r);
            }
        }
    }

    struct message {
        std::span<T> values;
        std::vector<bfloat16> rounded;
    };
    std::vector<message> rounded_; // of each bucket
    std::vector<std::vector<comm::part>> pieces_;
    std::vector<double> squares_; // of the gradients of each shard
    int sums_ = 0;                // begun in the step
    size_t kept_at_, slot_elements_;
    bool keeps_ = false;
};

template <class Device, class Exchanges>
struct exchanging_step_of<Device, Exchanges, false> {
    using type = host_step<Device, Exchanges>;
};

} // namespace castnet
