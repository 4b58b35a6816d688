// Reduction of the learning rate when a fit no longer improves.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/callbacks/best_epoch.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace castnet {

// Multiplies the learning rate by `factor` when a column has not become better for more than
// `patience` epochs, down to the share `least` of the schedule's rate, and not again for `cooldown`
// epochs: PyTorch's ReduceLROnPlateau, with its relative threshold, which is a part of the size of
// negative numbers, too (PyTorch takes -1 after -1 for better). It depends on the history alone, so
// that a resumed training has the same rates.
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
            double const by = growing == (reached > 0) ? 1 + threshold : 1 - threshold;
            bool const improved = growing ? now > reached * by : now < reached * by;
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

} // namespace castnet
