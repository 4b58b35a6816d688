// A fit's history as a CSV file.
#pragma once

#include <castnet/train/callback.hpp>

#include <string>

namespace castnet {

// Writes the history after every epoch (Keras' CSVLogger). Throws file_error.
struct csv_log {
    std::string file;

    std::string next_file(history const&) const { return file; }
    [[gnu::noinline]] void end_epoch(epoch_report const& report) const {
        if (report.rank == 0) {
            report.history.save_csv(file);
        }
    }
};

} // namespace castnet
