// Fit that continues from a checkpoint: what it must have in common with the fit that wrote it.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>
#include <castnet/train/fit_options.hpp>
#include <castnet/train/history.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace castnet::detail {

// Throws castnet::error unless a checkpoint within an epoch has as many samples as the data, in the
// same order.
template <class Scores>
[[gnu::noinline]] void check_resumed_data(fit_position<Scores> const& at, std::size_t samples,
                                          bool shuffle) {
    if (at.samples > 0 && at.data_size != samples) {
        throw error({"castnet: fit: the checkpoint is at sample ", at.samples, " of an epoch of ",
                     at.data_size, ", but the data set holds ", samples,
                     "; continue with the data that it was written with"});
    }
    if (at.samples > 0 && at.shuffled != shuffle) {
        throw error({"castnet: fit: the checkpoint is at sample ", at.samples, " of an epoch in ",
                     at.shuffled ? "a random" : "the data's",
                     " order, but fit_options::shuffle is ", shuffle ? "true" : "false",
                     "; continue in that order"});
    }
}

// The history of a checkpoint, or an empty one, with these columns. `other_columns` are those that
// it would have with validation data if this fit has none, or without. Throws castnet::error, in
// all processes as in the first, if the checkpoint's columns are different.
template <class Replicas>
[[gnu::noinline]] history
resumed_history(Replicas& replicas, history const& found, std::vector<std::string> columns,
                std::vector<std::string> const& other_columns, bool validates) {
    bool const fits = found.names().empty() || found.names() == columns;
    bool const fits_other = found.names() == other_columns;
    if (!replicas.of_first(fits || fits_other)) {
        std::string expected;
        for (std::string const& name : columns) {
            append(expected, {expected.empty() ? "" : ", ", name});
        }
        throw error({"castnet: fit: the history of the checkpoint has other columns than ",
                     expected, "; continue with metrics and outputs of the same names"});
    }
    if (!replicas.of_first(fits)) {
        throw error({"castnet: fit: the checkpoint was written ", validates ? "without" : "with",
                     " validation data; continue ", validates ? "without" : "with",
                     " it, so that the history has the same columns"});
    }
    return history{std::move(columns), replicas.of_first(found.rows())};
}

// Says that nothing is left to train.
template <class Scores>
[[gnu::noinline]] void show_end(fit_position<Scores> const& at, int epochs) {
    std::fprintf(stderr,
                 "castnet: fit: the checkpoint is at the end of epoch %zu%s: nothing is left to "
                 "train (epochs = %d counts those before the restart)\n",
                 at.epochs, at.stopped ? ", where a callback ended the fit" : "", epochs);
}

// Says that the data are others than before the restart.
[[gnu::noinline]] inline void show_other_data(std::size_t epochs, std::size_t before,
                                              std::size_t now) {
    std::fprintf(stderr,
                 "castnet: fit: the checkpoint is at the end of epoch %zu with a data set of %zu "
                 "samples: goes on with another one, of %zu\n",
                 epochs, before, now);
}

// Says that the fit is not the first one of its training, which has done `epochs` before it.
[[gnu::noinline]] inline void show_earlier_fits(std::uint64_t epochs) {
    std::fprintf(stderr,
                 "castnet: fit: goes on with the fit that the checkpoint was written in; fits of "
                 "%llu epochs had ended before it, so do not call those again\n",
                 static_cast<unsigned long long>(epochs));
}

} // namespace castnet::detail
