// Loop of fit(): epochs, their steps and validation, callbacks and checkpoints.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/epoch.hpp>
#include <castnet/data/is_dataset.hpp>
#include <castnet/data/shuffle.hpp>
#include <castnet/train/class_weight.hpp>
#include <castnet/train/fit_files.hpp>
#include <castnet/train/fit_options.hpp>
#include <castnet/train/hints.hpp>
#include <castnet/train/history_columns.hpp>
#include <castnet/train/loss_watch.hpp>
#include <castnet/train/parameter_groups.hpp>
#include <castnet/train/replicas.hpp>
#include <castnet/train/resumed_fit.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace castnet::detail {

// One call of fit(). Where it stands is the training's, which checkpoints and callbacks read.
template <class Training>
class fit_loop {
    using options_type = fit_options<Training>;
    using scores_type = typename Training::scores_type;
    using sums_type = typename Training::sums_type;
    using strategies = typename Training::strategies;
    using replicas_type = typename Training::replicas_type;

public:
    fit_loop(Training& t, options_type const& options)
        : t_{t}, options_{options}, shows_{t.rank() == 0 && options.verbose != verbosity::silent},
          loss_watch_{options.allow_nan, shows_} {}

    // Throws castnet::error where data or options are refused, and on all processes unless they
    // are told the same.
    template <class Data>
    void check(Data const& data) const {
        agree(data);
        check_class_weight<data::targets_of<Data>, typename Training::loss_type>(
            "fit", options_.class_weight);
        check_samples("fit", data.size());
        if (options_.validation.has_value()) {
            check_samples("fit: validation", options_.validation.size());
        }
        if (options_.epochs < 0) {
            throw error({"castnet: fit: ", options_.epochs, " epochs, expected a number from 0"});
        }
        if (options_.checkpoint.training != nullptr && options_.checkpoint.training != &t_) {
            throw error("castnet: fit: its checkpoint would be that of another training; give it "
                        "castnet::checkpoint(training, file) of this one");
        }
    }

    // From the position of a checkpoint, or from the beginning. What throws before the first step
    // has ended leaves the position of a checkpoint to the next fit.
    template <class Data>
    void run(Data const& data) {
        t_.replicas_.keep(data);
        if (options_.validation.has_value()) {
            options_.validation.keep(t_);
        }
        bool const resumed = t_.resumed_;
        auto const position = t_.position_;
        history const rows = t_.history_;
        try {
            begin(data.size());
            if (shows_) {
                give_hints(data);
            }
            train_epochs(data);
        } catch (...) {
            if (resumed && !has_stepped_) {
                t_.resumed_ = true;
                t_.position_ = position;
                t_.history_ = rows;
            }
            throw;
        }
    }

private:
    template <class Data>
    void agree(Data const& data) const {
        t_.replicas_.agree("fit", [&](auto& s) {
            add_data(s, "the data", data);
            add_class_weights(s, options_.class_weight);
            s.add("epochs", options_.epochs);
            s.add("shuffle", options_.shuffle ? "set" : "not set");
            if (options_.validation.has_value()) {
                options_.validation.describe(s, "the validation data");
            } else {
                s.add("samples of the validation data", 0);
            }
            add_schedule(s, options_.schedule,
                         steps_of(data) * std::uint64_t(std::max(options_.epochs, 0)));
            if constexpr (strategies::sharded_optimizer) { // else only rank 0 writes
                s.add("steps between checkpoints",
                      options_.checkpoint.write ? options_.checkpoint.every : 0);
                s.add("a checkpoint", options_.checkpoint.write ? "set" : "not set");
            }
        });
    }

    // Of an epoch.
    template <class Data>
    size_t steps_of(Data const& data) const {
        return (data.size() + t_.step_capacity() - 1) / t_.step_capacity();
    }

    // Starts at the position of a checkpoint or at the beginning; all processes at that of the
    // first one.
    [[gnu::noinline]] void begin(size_t samples) {
        bool const resumed = std::exchange(t_.resumed_, false);
        if (!resumed) {
            t_.position_ = {};
            t_.history_ = {};
        }
        t_.begin_together();
        auto& position = t_.position_;
        check_resumed_data(position, samples, options_.shuffle);
        size_t const samples_before = std::exchange(position.data_size, samples);
        position.shuffled = options_.shuffle;
        bool const validates = options_.validation.has_value();
        t_.history_ =
            resumed_history(t_.replicas_, t_.history_, history_columns<scores_type>(validates),
                            history_columns<scores_type>(!validates), validates);
        bool const nothing_left =
            position.stopped || (position.epochs > 0 && options_.epochs <= int(position.epochs));
        if (!nothing_left && t_.rank() == 0) {
            check_fit_files(options_.checkpoint.file, options_.callbacks, t_.history_);
        }
        for (callback const& each : options_.callbacks) {
            each.begin_fit(t_.history_);
        }
        if (position.callback_pending) {
            report_epoch(true);
        }
        std::uint64_t const before = t_.epochs_ - position.epochs; // of fits that have ended
        if (shows_ && nothing_left) {
            show_end(position, options_.epochs);
        } else if (shows_ && resumed) {
            if (before > 0) {
                show_earlier_fits(before);
            }
            if (position.epochs > 0 && samples_before != samples) {
                show_other_data(position.epochs, samples_before, samples);
            }
        }
    }

    template <class Data>
    [[gnu::noinline]] void give_hints(Data const& data) const {
        if constexpr (requires { requires Training::device::executor::in_host_memory; }) {
            hint_at_optimisation(is_optimised);
            hint_at_spinning(threads_spin, cpu::thread_count());
        }
        auto const& plan = Training::training_plan();
        hint_at_frozen(trains_any(t_.frozen_, plan.parameters));
        hint_at_scale(plan, data, std::make_index_sequence<Data::input_count>{});
    }

    // The epochs that are left, unless a callback ends the fit.
    template <class Data>
    void train_epochs(Data const& data) {
        auto& position = t_.position_;
        size_t const steps = steps_of(data);
        std::vector<size_t> order = data::detail::sample_numbers(data.size());
        std::optional<std::uint64_t> ordered; // for this epoch
        auto const order_for = [&](std::uint64_t epoch) {
            if (options_.shuffle && ordered != epoch) {
                data::shuffle(order, t_.model().seed_value(), epoch, data::shuffle_buffer(data));
                ordered = epoch;
            }
        };
        progress bar{shows_ ? options_.verbose.value : verbosity::silent, steps};
        bool interrupted = false;
        while (!interrupted && !position.stopped && position.epochs < size_t(options_.epochs)) {
            order_for(t_.epochs_);
            bar.begin(int(position.epochs) + 1, options_.epochs);
            t_.begin_epoch();
            try {
                interrupted = !train_epoch(data, order, bar);
            } catch (sample_error const& e) {
                throw sample_error{e, position.epochs + 1};
            }
            if (position.samples == data.size()) {
                if (position.epochs + 1 < size_t(options_.epochs)) {
                    order_for(t_.epochs_ + 1); // while a GPU is at the last steps
                }
                end_epoch(bar, steps, data::seconds_waited(data));
                report_epoch(false);
            } else if (options_.checkpoint.write) {
                options_.checkpoint.write();
            }
        }
    }

    // The steps of an epoch that are left; false if a callback has ended the fit.
    template <class Data>
    bool train_epoch(Data const& data, std::span<size_t const> order, progress& bar) {
        auto& position = t_.position_;
        size_t const capacity = t_.step_capacity();
        size_t const steps = steps_of(data);
        checkpoint_options const& checkpoint = options_.checkpoint;
        double const factor = rate_factor();
        double before = monotonic_seconds();
        [[maybe_unused]] auto const reading = t_.replicas_.read_epoch(
            data, t_.epochs_, order.subspan(position.samples), capacity, strategies::micro_batches);
        while (position.samples < data.size()) {
            size_t const first = position.samples, s = first / capacity;
            size_t const count = std::min(capacity, data.size() - first);
            position.rate =
                factor * (options_.schedule
                              ? options_.schedule(position.epochs * steps + s,
                                                  steps * std::uint64_t(options_.epochs))
                              : t_.optimizer_.learning_rate);
            data::begin_step(data);
            t_.advance(data, order.subspan(first, count), position.rate, options_.class_weight);
            position.samples += count;
            has_stepped_ = true;
            if constexpr (replicas_type::totals_at_hand) {
                check_loss(t_.replicas_.totals(), s + 1);
            }
            bar.step(s + 1, [&] { return totals_to_show(s + 1); });
            if (checkpoint.write && checkpoint.every > 0 && t_.steps_ % checkpoint.every == 0) {
                check_loss(t_.replicas_.totals(), s + 1);
                checkpoint.write();
            }
            if (!report_step(count, before)) {
                return false;
            }
        }
        return true;
    }

    // The factor of the learning rate that callbacks ask for.
    [[gnu::noinline]] double rate_factor() const {
        double factor = 1;
        for (callback const& each : options_.callbacks) {
            factor *= each.rate_factor(t_.history_);
        }
        return factor;
    }

    // Throws castnet::error, or warns, where the loss of the epoch's steps so far is not finite.
    void check_loss(sums_type const& s, size_t step) {
        loss_watch_.check_steps(s, step, t_.position_.epochs + 1);
    }
    // For the bar, which only rank 0 has: of several processes, it must not be the only one to end.
    scores_type totals_to_show(size_t step) {
        sums_type const s = t_.replicas_.totals();
        if constexpr (replicas_type::is_single && !replicas_type::totals_at_hand) {
            check_loss(s, step);
        }
        return {s, t_.metrics_};
    }

    // Tells callbacks of a step; false if one of them ends the fit.
    bool report_step(size_t samples, double& before) {
        bool const seen = std::any_of(options_.callbacks.begin(), options_.callbacks.end(),
                                      [](callback const& each) { return each.sees_steps(); });
        if (!seen) {
            return true;
        }
        double const now = monotonic_seconds();
        step_report report{int(t_.position_.epochs) + 1,     t_.steps_, samples, t_.position_.rate,
                           now - std::exchange(before, now), t_.rank()};
        for (callback const& each : options_.callbacks) {
            each.end_step(report);
        }
        return !t_.replicas_.any(report.stop);
    }

    // Appends the epoch's row to the history, in the order of history_columns(), and writes the
    // checkpoint.
    [[gnu::noinline]] void end_epoch(progress& bar, size_t steps, double waited) {
        auto& position = t_.position_;
        scores_type const trained{t_.replicas_.totals(), t_.metrics_};
        if (trained.weight == 0) {
            throw error({"castnet: fit: in epoch ", position.epochs + 1, " the weight of every ",
                         "sample is 0: none counts; see the weights of samples and classes"});
        }
        check_loss(trained, steps);
        double const seconds = monotonic_seconds() - t_.epoch_start_;
        std::vector<double> row;
        append_scores(row, trained);
        std::string shown;
        if (options_.validation.has_value()) {
            scores_type const validated = options_.validation.evaluate(t_);
            loss_watch_.check_validation(validated, position.epochs + 1);
            append_scores(row, validated);
            shown = progress::means(validated, "val_");
        }
        row.push_back(position.rate);
        row.push_back(seconds);
        row.push_back(waited);
        t_.history_.append(row);
        bar.end(trained, shown);
        ++t_.epochs_;
        ++position.epochs;
        position.samples = 0;
        position.sums = {};
        position.seconds = 0;
        position.callback_pending = !options_.callbacks.empty() || options_.on_epoch_end;
        if (options_.checkpoint.write) {
            options_.checkpoint.write();
        }
    }

    // Tells callbacks of an epoch. That they have ended the fit, or seen its last epoch, is written
    // down.
    [[gnu::noinline]] void report_epoch(bool again) {
        auto& position = t_.position_;
        epoch_report report{int(position.epochs), t_.history_, again, t_.rank()};
        for (callback const& each : options_.callbacks) {
            each.end_epoch(report);
        }
        if (options_.on_epoch_end) {
            options_.on_epoch_end(report);
        }
        bool const stop = t_.replicas_.any(report.stop);
        bool const was_pending = t_.replicas_.of_first(position.callback_pending);
        position.callback_pending = false;
        position.stopped = stop;
        bool const last = stop || position.epochs >= size_t(options_.epochs);
        if (options_.checkpoint.write && was_pending && last) {
            options_.checkpoint.write();
        }
    }

    Training& t_;
    options_type const& options_;
    bool const shows_; // progress, hints and warnings
    loss_watch loss_watch_;
    bool has_stepped_ = false;
};

} // namespace castnet::detail
