// Callbacks that Keras, Estimator and PyTorch users know, for fit_options::callbacks. Where one
// monitors a column that the history will not have, a number of one is out of its range, or a file
// cannot be written or is also another's, fit() throws castnet::error before its first step.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/weights.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace castnet {

// Whether a column of the history is better when it is lower or when it is higher; `automatic`:
// lower, unless its name ends as that of a metric that grows (accuracy, top_<k>, precision, recall,
// auc, f1, f_beta, r2, mean_iou).
enum class better : unsigned char { automatic, lower, higher };

namespace detail {

[[gnu::noinline]] inline bool grows(std::string const& column, better which) {
    if (which != better::automatic) {
        return which == better::higher;
    }
    for (std::string_view const known : {"accuracy", "precision", "recall", "auc", "f1", "f_beta",
                                         "r2", "mean_iou", "confusion_matrix"}) {
        if (column.ends_with(known)) {
            return true;
        }
    }
    std::size_t const number = column.find_last_not_of("0123456789") + 1;
    return number < column.size() && std::string_view{column}.substr(0, number).ends_with("top_");
}

// The best epoch so far; 0 where there is none.
[[gnu::noinline]] inline int best_epoch(history const& h, std::string const& column, better which) {
    return (grows(column, which) ? h.highest(column) : h.lowest(column)).epoch;
}

} // namespace detail

// Ends the training when a column has not become better by more than `least_change` for `patience`
// epochs, or for one where that is 0 (Keras's EarlyStopping). NaN is never better. All of it
// follows from the history, so that a resumed training ends at the same epoch.
struct early_stopping {
    std::string monitor = "val_loss";
    int patience = 3;
    double least_change = 0;
    better best = better::automatic;

    [[gnu::noinline]] void begin_fit(history const& h) const {
        static_cast<void>(h[monitor]);
        detail::check_hyperparameters(
            "early_stopping", {{"patience", double(patience)}, {"least_change", least_change}});
    }
    [[gnu::noinline]] void end_epoch(epoch_report& report) const {
        auto const column = report.history[monitor];
        double const toward = detail::grows(monitor, best) ? -1 : 1;
        double least = std::numeric_limits<double>::infinity();
        std::size_t at = 0;
        for (std::size_t i = 0; i < column.size(); ++i) {
            if (toward * column[i] < least - least_change) {
                least = toward * column[i];
                at = i;
            }
        }
        auto const waited = static_cast<int>(column.size() - 1 - at);
        report.stop = report.stop || (waited > 0 && waited >= patience);
    }
};

// Multiplies the learning rate by `factor` when a column has not become better for more than
// `patience` epochs, down to the share `least` of the schedule's rate, and not again for `cooldown`
// epochs: PyTorch's ReduceLROnPlateau, with its relative threshold. All of it follows from the
// history.
struct reduce_on_plateau {
    std::string monitor = "val_loss";
    double factor = 0.1;
    int patience = 10;
    double threshold = 1e-4;
    int cooldown = 0;
    double least = 0;
    better best = better::automatic;

    [[gnu::noinline]] void begin_fit(history const& h) const {
        static_cast<void>(h[monitor]);
        detail::check_hyperparameters("reduce_on_plateau",
                                      {{"factor", factor, hyperparameter::below_one},
                                       {"patience", double(patience)},
                                       {"threshold", threshold},
                                       {"cooldown", double(cooldown)},
                                       {"least", least, hyperparameter::fraction}});
    }
    [[gnu::noinline]] double rate_factor(history const& h) const {
        bool const growing = detail::grows(monitor, best);
        double reached = growing ? -std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::infinity();
        double rate = 1;
        int bad = 0, cooling = 0;
        for (double const now : h.epochs() == 0 ? std::vector<double>{} : h[monitor]) {
            bool const improved =
                growing ? now > reached * (1 + threshold) : now < reached * (1 - threshold);
            reached = improved ? now : reached;
            bad = improved ? 0 : bad + 1;
            if (cooling > 0) {
                --cooling;
                bad = 0;
            }
            if (bad > patience) {
                rate = std::max(rate * factor, least);
                cooling = cooldown;
                bad = 0;
            }
        }
        return rate;
    }
};

// Writes the history after every epoch (Keras's CSVLogger). Throws file_error.
struct csv_log {
    std::string file;

    std::string next_file(history const&) const { return file; }
    [[gnu::noinline]] void end_epoch(epoch_report const& report) const {
        if (report.rank == 0) {
            report.history.save_csv(file);
        }
    }
};

struct best_options {
    std::string monitor = "val_loss";
    better best = better::automatic;
    bool restore = false; // at the end of the fit, the model gets the best parameters back
};

// Saves the model's parameters whenever a column is the best so far: Keras's
// ModelCheckpoint(save_best_only) and EarlyStopping(restore_best_weights). A resumed fit that is to
// restore them needs the file of the fit before. Throws castnet::error at the end of a fit in which
// the column was NaN in every epoch, since then nothing was saved. Refers to the model.
template <class Model>
class save_best {
public:
    save_best(Model& model, std::string file, best_options options = {})
        : model_{&model}, file_{std::move(file)}, options_{std::move(options)} {}

    std::string next_file(history const&) const { return file_; }
    [[gnu::noinline]] void check_files(history const& h) const {
        auto const best = std::size_t(detail::best_epoch(h, options_.monitor, options_.best));
        // That of the last epoch may be saved yet, where a fit was interrupted before.
        if (options_.restore && best > 0 && best < h.epochs()) {
            if (!io::exists(file_)) {
                throw file_error(file_,
                                 {"is not there, but should hold the parameters of epoch ", best,
                                  ", the best so far of the fit that goes on; put it "
                                  "there, or leave out best_options::restore"});
            }
            static_cast<void>(detail::parameters_in<Model>(io::load_safetensors(file_)));
        }
    }
    [[gnu::noinline]] void begin_fit(history const& h) const {
        static_cast<void>(h[options_.monitor]);
    }
    [[gnu::noinline]] void end_epoch(epoch_report const& report) const {
        bool const improved =
            detail::best_epoch(report.history, options_.monitor, options_.best) == report.epoch;
        if (improved && report.rank == 0) {
            save(*model_, file_);
        }
    }
    [[gnu::noinline]] void end_fit(history const& h) const {
        bool const found = detail::best_epoch(h, options_.monitor, options_.best) > 0;
        if (!found && h.epochs() > 0) {
            throw error(
                {"castnet: save_best: ", options_.monitor,
                 " was NaN in every epoch, so none is the best, and the fit has not written ",
                 file_, "; monitor another column"});
        }
        if (found && options_.restore) {
            load(*model_, file_);
        }
    }

private:
    Model* model_;
    std::string file_;
    best_options options_;
};

struct each_options {
    int every = 1; // so many epochs
    int keep = 0;  // files that stay, the last ones; 0: all
};

// Saves in files whose name has the number of the epoch in place of each {epoch}: of a model the
// parameters, of a training a checkpoint, from which another fit can go on (Keras's
// ModelCheckpoint("weights-{epoch}"), Estimator's keep_checkpoint_max). Refers to the model or
// training. Throws castnet::error for a name without {epoch}, or an option out of its range.
template <class Saved>
class save_each {
public:
    save_each(Saved const& saved, std::string file, each_options const& options = {})
        : saved_{&saved}, file_{std::move(file)}, options_{options} {
        if (file_.find(place) == std::string::npos || options.every < 1 || options.keep < 0) {
            throw error({"castnet: save_each: found the file ", file_, ", every ", options.every,
                         " epochs and keep ", options.keep,
                         "; expected {epoch} in the name, every from 1 and keep from 0"});
        }
    }

    std::string next_file(history const& h) const {
        int const saved = int(h.epochs()) / options_.every;
        return name_of((saved + 1) * options_.every);
    }
    [[gnu::noinline]] void end_epoch(epoch_report const& report) const {
        if (report.epoch % options_.every != 0) {
            return;
        }
        // of a training, all processes may have a part
        constexpr bool is_training = requires(Saved const& s) { s.replica_count(); };
        if (is_training || report.rank == 0) {
            save(*saved_, name_of(report.epoch));
        }
        auto const kept = std::int64_t{options_.keep} * options_.every;
        if (report.rank == 0 && options_.keep > 0 && report.epoch > kept) {
            std::remove(name_of(report.epoch - static_cast<int>(kept)).c_str()); // it may be gone
        }
    }

private:
    static constexpr std::string_view place = "{epoch}";

    std::string name_of(int epoch) const {
        std::string name = file_;
        std::string const number = std::to_string(epoch);
        for (auto at = name.find(place); at != std::string::npos; at = name.find(place, at)) {
            name.replace(at, place.size(), number);
        }
        return name;
    }

    Saved const* saved_;
    std::string file_;
    each_options options_;
};

// Measures the steps (Estimator's TimeHistory). Copies share the measurements.
class step_times {
public:
    void begin_fit(history const&) const { *steps_ = {}; }
    void end_step(step_report const& report) const {
        steps_->seconds.push_back(report.seconds);
        steps_->samples += report.samples;
    }

    // Of each step of the last fit, waiting for data included.
    std::vector<double> const& seconds() const { return steps_->seconds; }
    double total() const {
        double sum = 0;
        for (double const each : steps_->seconds) {
            sum += each;
        }
        return sum;
    }
    double mean() const {
        return steps_->seconds.empty() ? 0 : total() / static_cast<double>(steps_->seconds.size());
    }
    double samples_per_second() const {
        return total() > 0 ? static_cast<double>(steps_->samples) / total() : 0;
    }

private:
    struct measured {
        std::vector<double> seconds;
        std::size_t samples = 0;
    };
    std::shared_ptr<measured> steps_ = std::make_shared<measured>();
};

// Ends the fit after the step in which SIGINT (Ctrl-C) or SIGTERM arrives, in order: the
// checkpoint of fit() is written, and a later fit goes on there. A second signal ends the program
// as usual. Afterwards signals are treated as before the fit. One fit at a time. A signal between
// steps, such as during validation, ends the fit after the next one; where there is none, all
// epochs are done, and stop_on_signal::arrived() tells that there was a signal.
class stop_on_signal {
public:
    stop_on_signal() = default;
    stop_on_signal(stop_on_signal const&) = delete;
    stop_on_signal(stop_on_signal&&) noexcept {} // before a fit
    stop_on_signal& operator=(stop_on_signal const&) = delete;
    ~stop_on_signal() { restore(); }

    // The last signal within a fit with this callback, the last one that has begun; 0: none.
    static int arrived() { return last_; }

    void begin_fit(history const&) {
        last_ = 0;
        struct sigaction noting{};
        noting.sa_handler = [](int which) { last_ = which; };
        noting.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
        ::sigaction(SIGINT, &noting, &interrupt_);
        ::sigaction(SIGTERM, &noting, &terminate_);
        installed_ = true;
    }
    void end_step(step_report& report) const { report.stop = report.stop || last_ != 0; }
    void end_fit(history const&) { restore(); }
    void leave_fit() noexcept { restore(); }

private:
    void restore() noexcept {
        if (std::exchange(installed_, false)) {
            ::sigaction(SIGINT, &interrupt_, nullptr);
            ::sigaction(SIGTERM, &terminate_, nullptr);
        }
    }

    static inline std::sig_atomic_t volatile last_ = 0;
    bool installed_ = false;
    struct sigaction interrupt_{}, terminate_{}; // as they were before
};

namespace detail {

template <class F, class Report>
struct callback_function_takes { // a class, so that every compiler prints the types
    static_assert(std::is_invocable_v<F&, Report&>,
                  "castnet: cn::on_step_end takes a function of the report of a step, "
                  "[](cn::step_report& report) { report.stop = true; }, and cn::on_epoch_end of a "
                  "cn::epoch_report&; see callback_function_takes<given, report>");
    static constexpr bool checked = true;
};

} // namespace detail

// A function of a step's or an epoch's report as a callback (Keras's LambdaCallback).
template <class F>
struct on_step_end {
    static_assert(detail::callback_function_takes<F, step_report>::checked);
    F f;
    void end_step(step_report& report) { f(report); }
};
template <class F>
struct on_epoch_end {
    static_assert(detail::callback_function_takes<F, epoch_report>::checked);
    F f;
    void end_epoch(epoch_report& report) { f(report); }
};

} // namespace castnet
