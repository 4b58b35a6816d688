// Columns of a fit's history: loss and metrics, those of validation data, the learning rate and
// times.
#pragma once

#include <castnet/core/text.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace castnet::detail {

template <class Scores>
[[gnu::noinline]] std::vector<std::string> history_columns(bool validates) {
    std::vector<std::string> names;
    for (char const* prefix : {"", "val_"}) {
        for (std::size_t i = 0; i < Scores::count && (*prefix == 0 || validates); ++i) {
            names.push_back(string_of({prefix, Scores::names[i]}));
        }
    }
    for (char const* name : {"learning_rate", "seconds", "waiting"}) {
        names.push_back(name);
    }
    return names;
}

// Appends loss and metrics to the row of an epoch, in the order of these columns.
template <class Scores>
[[gnu::noinline]] void append_scores(std::vector<double>& row, Scores const& scores) {
    for (std::size_t i = 0; i < Scores::count; ++i) {
        row.push_back(scores.result(i));
    }
}

} // namespace castnet::detail
