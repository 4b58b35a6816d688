// Description of a model's inputs and outputs: names of classes, statistics of channels.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/io/detail/shown.hpp>
#include <castnet/io/detail/utf8.hpp>

#include <span>
#include <string>
#include <vector>

namespace castnet::data {

// Of the channels of images, in their order: what standardize takes; or of the columns of a table,
// for standardize_columns.
struct channel_statistics {
    std::vector<double> mean, deviation;

    bool operator==(channel_statistics const&) const = default;
};

namespace detail {

// Throws castnet::error, with the function `call` that divides by them, unless there are as many
// means as deviations, the means are finite, and the deviations finite and above 0.
[[gnu::noinline]] inline void check_statistics(char const* call, std::span<double const> mean,
                                               std::span<double const> deviation) {
    if (mean.empty() || mean.size() != deviation.size()) {
        throw error({"castnet: ", call, ": found ", quantity(mean.size(), "mean"), " and ",
                     quantity(deviation.size(), "deviation"),
                     ", expected as many of both, at least one"});
    }
    for (std::size_t c = 0; c < mean.size(); ++c) {
        castnet::detail::check_hyperparameters(
            call, {{"a mean", mean[c], hyperparameter::finite},
                   {"a deviation", deviation[c], hyperparameter::positive}});
    }
}

} // namespace detail

// model::describe() keeps it with the model, and files of the model hold it.
struct description {
    std::vector<std::string> classes{}; // in the order of their numbers
    channel_statistics channels{};      // of the first input, before it is standardized

    bool operator==(description const&) const = default;
};

namespace detail {

// Throws castnet::error for one that no file could hold.
[[gnu::noinline]] inline void check_description(description const& d) {
    auto const& [mean, deviation] = d.channels;
    if (mean.size() != deviation.size()) {
        throw error({"castnet: describe: found ", quantity(mean.size(), "mean"), " and ",
                     quantity(deviation.size(), "deviation"), ", expected as many of both"});
    }
    for (std::size_t c = 0; c < mean.size(); ++c) {
        castnet::detail::check_hyperparameters(
            "describe", {{"a mean", mean[c], hyperparameter::finite},
                         {"a deviation", deviation[c], hyperparameter::finite}});
    }
    for (std::string const& name : d.classes) {
        if (!io::detail::is_utf8(name)) {
            throw error({"castnet: describe: the name of a class is ", io::detail::shown(name),
                         ", expected UTF-8"});
        }
    }
}

} // namespace detail

} // namespace castnet::data
