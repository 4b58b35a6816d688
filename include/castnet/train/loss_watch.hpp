// Watch over the loss of a fit: one that is not finite is an error, or a warning.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

namespace castnet {

class loss_watch {
public:
    loss_watch() = default;
    // With allow_nan, warnings are written if `speaks`; else a loss that is not finite is an error.
    loss_watch(bool allow_nan, bool speaks) : allow_nan_{allow_nan}, speaks_{speaks} {}

    // The sums of an epoch's steps so far. Throws castnet::error, or warns once in a fit.
    template <class Sums>
    void check_steps(Sums const& s, std::size_t step, std::size_t epoch) {
        if (detail::is_finite(s.sum[0])) {
            before_ = s.loss();
        } else if (!warned_) {
            report(string_of({"after step ", step, " of epoch ", epoch}));
        }
    }
    // Those of the validation data after an epoch.
    template <class Sums>
    void check_validation(Sums const& s, std::size_t epoch) {
        if (!detail::is_finite(s.sum[0]) && !warned_) {
            report(string_of({"on the validation data after epoch ", epoch}));
        }
    }

private:
    [[gnu::noinline]] void report(std::string const& when) {
        std::string before;
        if (before_ != 0) {
            before = string_of({" (its mean before was ", before_, ")"});
        }
        std::string const message =
            string_of({"castnet: fit: the loss is NaN or infinite ", when, before,
                       "; look for such numbers in the data, lower the learning rate, and start "
                       "again or resume from a checkpoint: the parameters may be spoilt"});
        if (!allow_nan_) {
            throw error(message + " (fit_options::allow_nan makes this a warning)");
        }
        warned_ = true;
        if (speaks_) {
            std::fprintf(stderr, "%s\n", message.c_str());
        }
    }

    bool allow_nan_ = false, speaks_ = false;
    double before_ = 0; // the mean of the epoch when it was last finite
    bool warned_ = false;
};

} // namespace castnet
