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
#include <type_traits>
#include <utility>
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

    // Only for its message.
    template <class Other>
        requires(!std::is_same_v<Other, checkpoint_options>)
    checkpoint_options(Other const&) {
        static_assert(detail::never<Other>,
                      "castnet: the checkpoint of a fit names the training, too: {.checkpoint = "
                      "cn::checkpoint(training, \"file.safetensors\")}");
    }

    std::function<void()> write{}; // empty: none
    std::uint64_t every = 0;
    std::string file{};
    void const* training = nullptr;
};

// The weights of classes that a fit takes.
struct class_weights : std::vector<float> {
    using vector::vector;
    class_weights(std::vector<float> all) : vector(std::move(all)) {}
    class_weights(std::vector<double> const& all) : vector(all.begin(), all.end()) {}
    // Only for its message.
    template <class Other>
        requires(!std::is_convertible_v<Other const&, std::vector<float>> &&
                 !std::is_same_v<Other, std::vector<double>>)
    class_weights(Other const&) {
        static_assert(detail::never<Other>,
                      "castnet: the class_weight of a fit is a factor for each class, in their "
                      "order: {.class_weight = {1, 1, 2}}, or a std::vector of float or double");
    }
};

// The callbacks of a fit.
struct callback_list : std::vector<callback> {
    using vector::vector;
    callback_list(std::vector<callback> all) : vector(std::move(all)) {}
    // Only for its message.
    template <class Other>
        requires(!std::is_convertible_v<Other const&, std::vector<callback>>)
    callback_list(Other const&) {
        static_assert(detail::never<Other>,
                      "castnet: the callbacks of a fit stand in braces: {.callbacks = "
                      "{cn::early_stopping{.patience = 3}}}");
    }
};

// Function that a fit calls after each epoch.
struct epoch_function : std::function<void(epoch_report&)> {
    epoch_function() = default;
    template <class F>
        requires(!std::is_same_v<F, epoch_function>)
    epoch_function(F f) {
        if constexpr (std::is_constructible_v<function, F>) {
            function::operator=(std::move(f));
        } else {
            static_assert(
                detail::never<F>,
                "castnet: on_epoch_end is a function of the report of an epoch, by reference: "
                "[](cn::epoch_report& report) { report.stop = true; }");
        }
    }
};

// Position of a fit; its history is separate.
template <class Scores>
struct fit_position {
    std::size_t epochs = 0;        // completed
    std::size_t samples = 0;       // of the current epoch
    std::size_t data_size = 0;     // samples of a whole epoch
    bool shuffled = false;         // whether that is in a random order
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
    class_weights class_weight{};           // one factor per class: labels, or 0 and 1
    bool shuffle = true;                    // a new order every epoch, from the model's seed
    verbose_option verbose = verbosity::bar;
    checkpoint_options checkpoint{};
    callback_list callbacks{};     // see train/callbacks.hpp; called in this order
    epoch_function on_epoch_end{}; // after those
    bool allow_nan = false; // a loss that is NaN or infinite: a warning, once, instead of an error
};

} // namespace castnet
