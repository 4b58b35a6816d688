// All replicas of a training in this process, kept alike, and what connects them with those of
// others.
#pragma once

#include <castnet/comm/alone.hpp>
#include <castnet/train/agreement.hpp>
#include <castnet/train/replica.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class replicas {
    using T = typename Model::value_type;
    using device = typename Model::device;
    using policy = typename Model::policy_type;
    static constexpr bool is_connected = requires { sizeof(comm::group_of<policy>); };
    static_assert(is_connected, "castnet: replicas on several GPUs add up by NCCL: include "
                                "<castnet/nccl.hpp> and link castnet::nccl; or use "
                                "policy::logical, or policy::host_sums");
    using group = std::conditional_t<is_connected, comm::group_of<policy>, comm::alone>;

public:
    using replica_type = replica<Model, Loss, Optimizer, Metrics...>;
    using scores_type = typename replica_type::scores_type;
    using strategies = typename replica_type::strategies;
    static constexpr bool alone = std::is_same_v<group, comm::alone>;
    // Whether there may be others in other processes.
    static constexpr bool has_processes = requires { requires group::has_processes; };
    // Whether a replica has the sums of loss and metrics over all replicas after a step.
    static constexpr bool whole_totals = alone || replica_type::on_gpus;
    // Whether totals() waits for no device.
    static constexpr bool totals_at_hand =
        !whole_totals || requires { requires device::executor::in_host_memory; };

    explicit replicas(Model& m)
        : model_{m}, group_{detail::replicas_here<policy>(m.chosen_devices())} {
        if constexpr (alone) {
            replicas_[0].emplace(m, m.session(), m.data());
        } else {
            replicas_ = std::make_unique<std::optional<replica_type>[]>(size_t(group_.local()));
            group_.run([&](int i, auto&) {
                typename device::replica_scope const here{i, group_.local()};
                make(i);
            });
        }
    }

    replicas(replicas const&) = delete;
    replicas& operator=(replicas const&) = delete;
    ~replicas() {
        if constexpr (requires { group_.before_end(); }) {
            group_.before_end();
        }
    }

    // The replica whose parameters are the model's.
    replica_type& first() { return *replicas_[0]; }
    replica_type const& first() const { return *replicas_[0]; }

    int rank() const { return group_.first(); }
    int size() const { return group_.size(); }

    size_t step_capacity() const {
        return Model::capacity * size_t(size()) * size_t(strategies::micro_batches);
    }

    // Every device copies the data that are to stay there, before any of them begins a step: to
    // allocate may be to wait for all GPUs of the process.
    template <class Data>
    void keep(Data const& data) {
        if constexpr (data::is_on_device<Data>) {
            run([&](replica_type& r, auto&) { r.keep(data); });
        }
    }

    // One step of all: returns whether a sample counts, else nothing has changed. Loss and metrics
    // are added to totals().
    template <class Data, class Rule>
    bool train(Data const& data, std::span<size_t const> samples, std::uint64_t step,
               Rule const& rule, std::span<float const> class_weight) {
        static constexpr auto const& plan = replica_type::training_plan;
        if constexpr (alone) {
            double const weight = detail::checked_weight_sum(
                first().template fill<plan>(data, samples, class_weight).sum);
            if (weight > 0) { // else running statistics would change
                first().train(step, rule, weight);
            }
            return weight > 0;
        } else {
            if (samples.size() > step_capacity()) {
                throw error({"castnet: a step of at most ", step_capacity(), " samples was given ",
                             samples.size()});
            }
            auto const all = guarded([&] {
                micro_batches const batches{data, samples, class_weight};
                detail::checked_weight_sum(batches.weight);
                return batches;
            });
            if (all.weight == 0) {
                return false;
            }
            synchronize();
            run([&](replica_type& r, auto& others) {
                if constexpr (!whole_totals) {
                    r.set_totals({});
                }
                double weight = 0;
                for (int k = 0; k < strategies::micro_batches; ++k) {
                    if (all.present[k] > 0) { // else running statistics would change
                        weight += train_micro_batch(r, others, data, samples, class_weight, all, k,
                                                    step, rule);
                    }
                }
                if constexpr (!whole_totals) {
                    add_totals(r, weight, others, step);
                }
            });
            return true;
        }
    }

    // All samples of the data, each once; loss and metrics are added to totals().
    template <class Data>
    void evaluate(Data const& data) {
        static constexpr auto const& plan = replica_type::evaluation_plan;
        synchronize();
        [[maybe_unused]] scores_type before;
        if constexpr (!alone) {
            before = totals();
            totals_ = {};
        }
        run([&](replica_type& r, auto& others) {
            if constexpr (!alone) {
                r.set_totals({});
            }
            size_t const at_once = Model::capacity * size_t(size());
            for (size_t first = 0; first < data.size(); first += at_once) {
                size_t const count = std::min(at_once, data.size() - first);
                auto const mine = comm::part_of(count, others.rank(), others.size());
                if (mine.count() > 0) {
                    auto const samples = r.numbers(first + mine.first, mine.count());
                    r.evaluate(
                        detail::checked_weight_sum(r.template fill<plan>(data, samples).sum));
                } else {
                    r.evaluate_nothing();
                }
            }
            if constexpr (!alone) {
                add_totals(r, r.totals().weight, others, comm::collective::no_step);
            }
        });
        if constexpr (!alone) {
            before += totals_;
            set_totals(before);
        }
    }

    // Sums of loss and metrics over all that was trained and evaluated since they were set.
    scores_type totals() const {
        if constexpr (whole_totals) {
            return first().totals();
        } else {
            return totals_;
        }
    }
    void set_totals(scores_type const& s) {
        if constexpr (whole_totals) {
            first().set_totals(s);
        } else {
            totals_ = s;
        }
    }

    // Parameters and optimizer state become those of rank 0, unless they are already: set() of the
    // model and changed() say that they may not be.
    void synchronize() const {
        if constexpr (!alone) {
            if (are_alike()) {
                return;
            }
            run([](replica_type& r, auto& others) { r.take_from_first(others); });
            changed_ = false;
            revision_ = model_.revision();
        }
    }
    void changed() { changed_ = true; }
    bool are_alike() const { return !changed_ && revision_ == model_.revision(); }

    // Around reading or setting the optimizer's state, which may be in parts: all processes have to
    // do the first one.
    void collect_state() const {
        if constexpr (strategies::sharded_optimizer) {
            synchronize();
            run([](replica_type& r, auto& others) {
                r.collect_state(others);
                if (others.rank() != 0) {
                    r.forget_whole_state();
                }
            });
        }
    }
    void forget_whole_state() const {
        if constexpr (strategies::sharded_optimizer) {
            replicas_[0]->forget_whole_state();
        }
    }

    // What rank 0 has.
    template <class Value>
    Value of_first(Value const& value) {
        Value result = value;
        if constexpr (!alone) {
            run([&](replica_type& r, auto& others) {
                Value copy = value;
                others.broadcast(std::as_writable_bytes(std::span{&copy, 1}), {"broadcast"});
                if (&r == &first()) {
                    result = copy;
                }
            });
        }
        return result;
    }

    std::vector<double> of_first(std::vector<double> const& values) {
        std::vector<double> result = values;
        if constexpr (!alone) {
            size_t const count = of_first(values.size());
            if (count == 0) {
                return {};
            }
            run([&](replica_type& r, auto& others) {
                std::vector<double> copy = values;
                copy.resize(count);
                others.broadcast(std::as_writable_bytes(std::span{copy}), {"broadcast"});
                if (&r == &first()) {
                    result = std::move(copy);
                }
            });
        }
        return result;
    }

    // Whether one of the processes says so.
    bool any(bool mine) {
        bool result = mine;
        if constexpr (has_processes) {
            run([&](replica_type& r, auto& others) {
                std::byte const own{mine};
                std::vector<std::byte> all(size_t(others.size()));
                others.gather({&own, 1}, all, {"whether to stop"});
                if (&r == &first()) {
                    result = std::count(all.begin(), all.end(), std::byte{1}) > 0;
                }
            });
        }
        return result;
    }

    // Where there are other processes, throws castnet::error on all of them unless they make the
    // same call, of which describe(detail::settings&) writes down the same. (With a parameter of
    // type auto&, it costs other policies no compile time.)
    template <class Describe>
    void agree([[maybe_unused]] char const* call, [[maybe_unused]] Describe const& describe) const {
        if constexpr (has_processes) {
            detail::settings mine{call};
            group_.guarded([&] { describe(mine); });
            run([&](replica_type&, auto& others) { detail::require_same(others, mine); });
        }
    }

private:
    void make(int i) {
        auto& r = replicas_[size_t(i)];
        if (i == 0) {
            r.emplace(model_, model_.session(), model_.data(), size());
        } else {
            auto& copy = model_.copy_for(i);
            r.emplace(model_, copy.session, copy.parameters.template as<T>(), size());
        }
    }

    // The batches of a step that replicas compute together, one after the other.
    struct micro_batches {
        template <class Data>
        micro_batches(Data const& data, std::span<size_t const> samples,
                      std::span<float const> class_weight) {
            for (int k = 0; k < strategies::micro_batches; ++k) {
                part[k] = comm::part_of(samples.size(), k, strategies::micro_batches);
                auto const all = replica_type::weigh(
                    data, samples.subspan(part[k].first, part[k].count()), class_weight);
                present[k] = all.present;
                weight += all.sum;
                last = all.present > 0 ? k : last;
            }
        }
        comm::part part[strategies::micro_batches];
        size_t present[strategies::micro_batches];
        int last = 0;
        double weight = 0;
    };
    // Trains with a replica's samples of such a batch, whose weight this returns.
    template <class Communicator, class Data, class Rule>
    static double train_micro_batch(replica_type& r, Communicator& others, Data const& data,
                                    std::span<size_t const> samples,
                                    std::span<float const> class_weight, micro_batches const& all,
                                    int k, std::uint64_t step, Rule const& rule) {
        auto const batch = samples.subspan(all.part[k].first, all.part[k].count());
        auto const mine = comm::part_of(batch.size(), others.rank(), others.size());
        std::optional<size_t> present = all.present[k];
        if constexpr (strategies::local_batch_norm) {
            present.reset();
        }
        auto const filled = r.template fill<replica_type::training_plan>(
            data, batch, mine.first, mine.count(), class_weight, present);
        r.train_with(others,
                     {std::ptrdiff_t(mine.count()), all.part[k].first + mine.first,
                      double(filled.present) / double(all.present[k]), k == all.last},
                     step, rule, all.weight);
        return filled.sum;
    }

    // f(), without a communicator: what it throws names the rank where others would wait.
    template <class F>
    auto guarded(F const& f) const {
        if constexpr (has_processes) {
            return group_.guarded(f);
        } else {
            return f();
        }
    }

    // f(replica, communicator) on all at the same time.
    template <class F>
    void run(F const& f) const {
        group_.run([&]([[maybe_unused]] int i, auto& others) {
            if constexpr (alone) {
                f(const_cast<replicas*>(this)->first(), others);
            } else {
                typename device::replica_scope const here{i, group_.local()};
                f(*replicas_[size_t(i)], others);
            }
        });
    }

    // Adds what a replica's totals say of its samples, which have this weight, to those of all.
    template <class Communicator>
    void add_totals(replica_type const& r, double weight, Communicator& others,
                    std::uint64_t step) {
        scores_type s = r.totals();
        double values[scores_type::count + 1];
        std::copy_n(s.sum, scores_type::count, values);
        values[scores_type::count] = weight;
        others.sum(std::span<double>{values}, {"sum of loss and metrics", -1, step});
        if (&r == &first()) {
            std::copy_n(values, scores_type::count, s.sum);
            s.weight = values[scores_type::count];
            totals_ += s;
        }
    }

    Model& model_;
    mutable group group_;
    std::conditional_t<alone, std::array<std::optional<replica_type>, 1>,
                       std::unique_ptr<std::optional<replica_type>[]>>
        replicas_;
    scores_type totals_{};
    mutable std::uint64_t revision_ = 0; // when replicas were last made alike
    mutable bool changed_ = true;
};

} // namespace castnet
