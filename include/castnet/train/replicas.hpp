// Steps and evaluations by all replicas of a training, which are kept alike.
#pragma once

#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/epoch.hpp>
#include <castnet/train/micro_batches.hpp>
#include <castnet/train/replica_group.hpp>

#include <algorithm>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class replicas : public replica_group<Model, Loss, Optimizer, Metrics...> {
    using base = replica_group<Model, Loss, Optimizer, Metrics...>;
    using device = typename Model::device;

public:
    using typename base::replica_type;
    using sums_type = typename replica_type::sums_type;
    using base::first, base::rank, base::size, base::is_single, base::has_processes;
    using strategies = typename replica_type::strategies;
    // Whether a replica has the sums of loss and metrics over all replicas after a step.
    static constexpr bool whole_totals = is_single || replica_type::on_gpus;
    // Whether totals() waits for no device.
    static constexpr bool totals_at_hand =
        !whole_totals || requires { requires device::executor::in_host_memory; };

    using base::base;

    size_t step_capacity() const {
        return Model::capacity * size_t(size()) * size_t(strategies::micro_batches);
    }

    // Every device copies its device-resident data before any of them begins a step: allocation may
    // wait for all GPUs of the process.
    template <class Data>
    void keep(Data const& data) {
        if constexpr (data::is_on_device<Data>) {
            run([&](replica_type& r, auto&) { this->reading_data([&] { r.keep(data); }); });
        }
    }

    // One step of all replicas; returns whether a sample has a weight above 0, otherwise nothing
    // has changed. Adds loss and metrics to totals().
    template <class Data, class Rule>
    bool train(Data const& data, std::span<size_t const> samples, std::uint64_t step,
               Rule const& rule, std::span<float const> class_weight) {
        static constexpr auto const& plan = replica_type::training_plan();
        if constexpr (is_single && strategies::micro_batches > 1) {
            check_count(samples.size());
            micro_batches const all{data, samples, class_weight};
            if (all.weight > 0) {
                all.train(first(), data, samples, class_weight, step, rule);
            }
            return all.weight > 0;
        } else if constexpr (is_single) {
            double const weight = detail::checked_weight_sum(
                first().template collate<plan>(data, samples, class_weight).sum);
            if (weight > 0) { // otherwise running statistics would change
                first().train(step, rule, weight);
            }
            return weight > 0;
        } else {
            check_count(samples.size());
            auto const all = guarded([&] { return micro_batches{data, samples, class_weight}; });
            if (all.weight == 0) {
                return false;
            }
            synchronize();
            run([&](replica_type& r, auto& others) {
                if constexpr (!whole_totals) {
                    r.set_totals({});
                }
                double const weight =
                    all.train_with(r, others, data, samples, class_weight, step, rule,
                                   [&](auto const& f) { return this->reading_data(f); });
                if constexpr (!whole_totals) {
                    add_totals(r, weight, others, step);
                }
            });
            return true;
        }
    }

    void set_groups(std::span<ir::update_group const> groups) {
        run([&](replica_type& r, auto&) { r.set_groups(groups); });
    }

    // Announces an epoch to a data set that is read by epochs: its samples will be read in this
    // order, in steps of `step_size` samples, each in so many parts. The epoch ends with the life
    // of the result.
    template <class Data>
    auto read_epoch(Data const& data, std::uint64_t number, std::span<size_t const> order,
                    size_t step_size, int parts) const {
        if constexpr (data::ReadByEpochs<Data>) {
            if constexpr (has_processes) {
                std::vector<size_t> const mine = samples_of_process(order, step_size, parts);
                size_t const here = step_size / size_t(size()) * size_t(group_.local());
                return data::epoch_scope{data, {model_.seed_value(), number, mine, here}};
            } else {
                return data::epoch_scope{data, {model_.seed_value(), number, order, step_size}};
            }
        } else {
            static_assert(
                !requires { &Data::begin_epoch; },
                "castnet: a data set is told of epochs by "
                "begin_epoch(cn::data::epoch const&) const; what changes is mutable");
            return 0;
        }
    }

    // Evaluates all samples of the data once; adds loss and metrics to totals().
    template <class Data>
    void evaluate(Data const& data, std::uint64_t epoch) {
        static constexpr auto const& plan = replica_type::evaluation_plan();
        size_t const at_once = Model::capacity * size_t(size());
        std::vector<size_t> const order =
            data::detail::sample_numbers(data::ReadByEpochs<Data> ? data.size() : 0);
        [[maybe_unused]] auto const reading = read_epoch(data, epoch, order, at_once, 1);
        synchronize();
        [[maybe_unused]] sums_type before;
        if constexpr (!is_single) {
            before = totals();
            totals_ = {};
        }
        run([&](replica_type& r, auto& others) {
            if constexpr (!is_single) {
                r.set_totals({});
            }
            for (size_t begin = 0; begin < data.size(); begin += at_once) {
                if (&r == &this->first()) {
                    data::begin_step(data);
                }
                size_t const count = std::min(at_once, data.size() - begin);
                auto const mine = comm::part_of(count, others.rank(), others.size());
                if (mine.count() > 0) {
                    auto const samples = r.numbers(begin + mine.first, mine.count());
                    double const weight = this->reading_data([&] {
                        return detail::checked_weight_sum(
                            r.template collate<plan>(data, samples).sum);
                    });
                    r.evaluate(weight, begin / at_once, mine.first);
                } else {
                    r.evaluate_nothing();
                }
            }
            if constexpr (!is_single) {
                add_totals(r, r.totals().weight, others, comm::collective::no_step);
            }
        });
        if constexpr (!is_single) {
            before += totals_;
            set_totals(before);
        }
    }

    // Sums of loss and metrics over all samples trained and evaluated since set_totals().
    sums_type totals() const {
        if constexpr (whole_totals) {
            return first().totals();
        } else {
            return totals_;
        }
    }
    void set_totals(sums_type const& s) {
        if constexpr (whole_totals) {
            first().set_totals(s);
        } else {
            totals_ = s;
        }
    }

    // Broadcasts the parameters and optimizer state of rank 0, if set() of the model or changed()
    // was called since.
    void synchronize() const {
        if constexpr (!is_single) {
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

    // To be called before and after access to the optimizer state, which may be sharded; the first
    // is collective over all processes.
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
            run([](replica_type& r, auto&) { r.forget_whole_state(); });
        }
    }

private:
    using base::guarded, base::run, base::reading_data, base::model_, base::group_;

    // The samples of an epoch that this process reads, in this order.
    std::vector<size_t> samples_of_process(std::span<size_t const> order, size_t step_size,
                                           int parts) const {
        std::vector<size_t> mine;
        for (size_t begin = 0; begin < order.size(); begin += step_size) {
            size_t const count = std::min(step_size, order.size() - begin);
            for (int k = 0; k < parts; ++k) {
                auto const batch = comm::part_of(count, k, parts);
                for (int i = 0; i < group_.local(); ++i) {
                    auto const rows = comm::part_of(batch.count(), rank() + i, size());
                    auto const from = order.subspan(begin + batch.first + rows.first);
                    mine.insert(mine.end(), from.begin(),
                                from.begin() + std::ptrdiff_t(rows.count()));
                }
            }
        }
        return mine;
    }

    using micro_batches = detail::micro_batches<replica_type>;

    void check_count(size_t samples) const {
        if (samples > step_capacity()) {
            throw error({"castnet: a step of at most ", quantity(step_capacity(), "sample"),
                         " was given ", samples});
        }
    }

    // Adds a replica's totals, of samples with this weight, to those of all.
    template <class Communicator>
    void add_totals(replica_type const& r, double weight, Communicator& others,
                    std::uint64_t step) {
        sums_type s = r.totals();
        double values[sums_type::sums + 1];
        std::copy_n(s.sum, sums_type::sums, values);
        values[sums_type::sums] = weight;
        others.sum(std::span<double>{values}, {"sum of loss and metrics", -1, step});
        if (&r == &this->first()) {
            std::copy_n(values, sums_type::sums, s.sum);
            s.weight = values[sums_type::sums];
            totals_ += s;
        }
    }

    sums_type totals_{};
    mutable std::uint64_t revision_ = 0; // of the model at the last synchronization
    mutable bool changed_ = true;
};

} // namespace castnet
