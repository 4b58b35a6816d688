// What fit() is told, what it tells after every epoch, and how far it has come.
#pragma once

#include <castnet/optim/schedules.hpp>
#include <castnet/train/history.hpp>
#include <castnet/train/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace castnet {

// After each epoch of fit(); set `stop` to end the training.
struct epoch_report {
    int epoch; // from 1
    castnet::history const& history;
    bool stop = false;
};

// When fit() writes a checkpoint, which checkpoint() in train/checkpoint.hpp makes: after every
// epoch, and where `every` is not 0 also whenever so many steps have been done.
struct checkpoint_options {
    std::function<void()> write{}; // empty: none
    std::uint64_t every = 0;
};

// How far a fit has come.
template <class Scores>
struct fit_position {
    std::size_t epochs = 0;  // that are done
    std::size_t samples = 0; // of the epoch that is not
    Scores sums{};           // of those samples
};

template <class Dataset>
struct fit_options {
    int epochs = 1;
    castnet::schedule schedule{};        // empty: the optimizer's own learning rate
    std::optional<Dataset> validation{}; // evaluated after every epoch
    std::vector<float> class_weight{};   // one factor per class, for labels
    bool shuffle = true;                 // a new order every epoch, from the model's seed
    verbosity verbose = verbosity::bar;
    checkpoint_options checkpoint{};
    std::function<void(epoch_report&)> on_epoch_end{};
};

} // namespace castnet
