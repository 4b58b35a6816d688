// Description of a model's inputs and outputs: names of classes, statistics of channels.
#pragma once

#include <castnet/core/language.hpp>

#include <string>
#include <vector>

namespace castnet::data {

// Of the channels of images, in their order: what standardize takes; or of the columns of a table,
// for standardize_columns.
struct channel_statistics {
    std::vector<double> mean, deviation;

    bool operator==(channel_statistics const&) const = default;
};

// model::describe() keeps it with the model, and files of the model hold it.
struct description {
    std::vector<std::string> classes{}; // in the order of their numbers
    channel_statistics channels{};      // of the first input, before it is standardized

    bool operator==(description const&) const = default;
};

} // namespace castnet::data
