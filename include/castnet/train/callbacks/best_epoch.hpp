// The best epoch of a fit by a column of its history.
#pragma once

#include <castnet/train/history.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace castnet {

// Which values of a column of the history are better. `automatic`: the lower ones, unless the
// column's name ends like that of a metric that should grow (accuracy, top_<k>, precision, recall,
// auc, f1, f_beta, r2, mean_iou, confusion_matrix).
enum class better : unsigned char { automatic, lower, higher };

namespace detail {

[[gnu::noinline]] inline bool grows(std::string const& column, better which) {
    if (which != better::automatic) {
        return which == better::higher;
    }
    for (std::string_view const known : {"accuracy", "precision", "recall", "auc", "f1", "f_beta",
                                         "r2", "mean_iou", "confusion_matrix"}) {
        if (column.ends_with(known)) {
            return true;
        }
    }
    std::size_t const number = column.find_last_not_of("0123456789") + 1;
    return number < column.size() && std::string_view{column}.substr(0, number).ends_with("top_");
}

// The best epoch so far, from 1; 0 if there is none.
[[gnu::noinline]] inline int best_epoch(history const& h, std::string const& column, better which) {
    return (grows(column, which) ? h.highest(column) : h.lowest(column)).epoch;
}

} // namespace detail

} // namespace castnet
