// Early stopping: the end of a fit that no longer improves.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/callbacks/best_epoch.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace castnet {

// Ends the training when a column has not become better by more than `least_change` for `patience`
// epochs, or for one if that is 0 (Keras' EarlyStopping). NaN is never better. It depends on the
// history alone, so that a resumed training ends at the same epoch.
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

} // namespace castnet
