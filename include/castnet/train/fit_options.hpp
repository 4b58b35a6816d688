// Options of fit(), and its position.
#pragma once

#include <castnet/optim/schedules.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/progress.hpp>
#include <castnet/train/validation_data.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace castnet {

// When fit() writes a checkpoint (see checkpoint() in train/checkpoint.hpp): after every epoch and,
// if `every` is not 0, every `every` steps. Where `file` is told, the fit makes sure first that it
// can be written, and where `training` is, that it is the one that fits.
struct checkpoint_options {
    // (No aggregate: GCC 12 warns of what it takes for uninitialized in one within another one.)
    checkpoint_options() = default;
    checkpoint_options(std::function<void()> writer, std::uint64_t steps, std::string name = "",
                       void const* of = nullptr)
        : write{std::move(writer)}, every{steps}, file{std::move(name)}, training{of} {}

    std::function<void()> write{}; // empty: none
    std::uint64_t every = 0;
    std::string file{};
    void const* training = nullptr;
};

// Position of a fit; its history is separate.
template <class Scores>
struct fit_position {
    std::size_t epochs = 0;        // completed
    std::size_t samples = 0;       // of the current epoch
    std::size_t data_size = 0;     // samples of a whole epoch
    Scores sums{};                 // of those samples
    double seconds = 0;            // spent on them
    double rate = 0;               // learning rate of the last step
    bool callback_pending = false; // callbacks may not have seen the last completed epoch
    bool stopped = false;          // they ended the fit
};

template <class Training>
struct fit_options {
    // Of this call; after load(training, file), those before the checkpoint count. 0: nothing is
    // trained, and the history has columns without a number.
    int epochs = 1;
    castnet::schedule schedule{};           // empty: the optimizer's own learning rate
    validation_data<Training> validation{}; // a data set, evaluated after every epoch
    std::vector<float> class_weight{};      // one factor per class, for labels
    bool shuffle = true;                    // a new order every epoch, from the model's seed
    verbosity verbose = verbosity::bar;
    checkpoint_options checkpoint{};
    std::vector<callback> callbacks{}; // see train/callbacks.hpp; called in this order
    std::function<void(epoch_report&)> on_epoch_end{}; // after those
    bool allow_nan = false; // a loss that is NaN or infinite: a warning, once, instead of an error
};

} // namespace castnet
