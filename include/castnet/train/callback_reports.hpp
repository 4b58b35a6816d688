// Reports of steps and epochs, which callbacks get from fit().
#pragma once

#include <castnet/train/history.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet {

namespace detail {

// Member of a class that is given by reference alone: what is set in a copy would be lost.
struct not_copied {
    not_copied() = default;
    not_copied(not_copied const&) = delete;
    not_copied& operator=(not_copied const&) = delete;
};

} // namespace detail

// After each step of fit(); set `stop` to end the training there, in one process or in all: the
// checkpoint of fit() is written, from which another fit continues within the epoch.
struct step_report {
    int epoch;            // from 1
    std::uint64_t step;   // from 1, over all fits of the training
    std::size_t samples;  // of the step, in all processes
    double learning_rate; // of the step
    double seconds;       // since the step before, or since the epoch began, data included
    int rank = 0;         // of this process's first replica: 0 in one process
    bool stop = false;
    [[no_unique_address]] detail::not_copied by_reference{};
};

// After each epoch of fit(); set `stop` to end the training, in one process or in all.
struct epoch_report {
    int epoch;                       // from 1
    castnet::history const& history; // of all epochs so far, those before a restart too
    // Whether this epoch may have been reported before: the program ended between the epoch's
    // checkpoint and the next one.
    bool again = false;
    int rank = 0; // of this process's first replica: 0 in one process
    bool stop = false;
    [[no_unique_address]] detail::not_copied by_reference{};
};

} // namespace castnet
