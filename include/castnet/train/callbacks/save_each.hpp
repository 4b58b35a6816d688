// Parameters or checkpoints of several epochs, in a file each.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/weights.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace castnet {

struct each_options {
    int every = 1; // epochs from one file to the next
    int keep = 0;  // how many files stay, the last ones; 0: all
};

// Saves in files whose name has the number of the epoch in place of each {epoch}: of a model the
// parameters, of a training a checkpoint, from which another fit can go on (Keras'
// ModelCheckpoint("weights-{epoch}"), Estimator's keep_checkpoint_max). Refers to the model or
// training. Throws castnet::error for a name without {epoch}, or an option out of its range.
template <class Saved>
class save_each {
public:
    save_each(Saved const& saved, std::string file, each_options const& options = {})
        : saved_{&saved}, file_{std::move(file)}, options_{options} {
        if (file_.find(place) == std::string::npos || options.every < 1 || options.keep < 0) {
            throw error({"castnet: save_each: found the file ", file_, ", every ",
                         quantity(options.every, "epoch"), " and keep ", options.keep,
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
        // A checkpoint may have a part from each process.
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

// Only for their message.
template <class Given>
class save_each<detail::half_of_arguments<Given>> {
    static_assert(detail::never<Given>,
                  "castnet: save_each is told what to save and in which files: "
                  "cn::save_each{model, \"weights-{epoch}\"}, or cn::save_each{training, ...}");

public:
    explicit save_each(auto const&...) {}
    void end_epoch(epoch_report const&) const {}
};
template <class... More>
save_each(char const*, More const&...) -> save_each<detail::half_of_arguments<char const*>>;

} // namespace castnet
