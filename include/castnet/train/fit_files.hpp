// Files that a fit will write: its checkpoint and those of its callbacks.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/train/callback.hpp>

#include <string>
#include <vector>

namespace castnet::detail {

// Throws file_error if a file could not be written after the first steps, or would be written by
// two. `checkpoint` is empty without one.
[[gnu::noinline]] inline void check_fit_files(std::string const& checkpoint,
                                              std::vector<callback> const& callbacks,
                                              history const& h) {
    std::vector<std::string> files;
    auto const add = [&](std::string const& file) {
        io::check_writable(file);
        for (std::string const& other : files) {
            if (io::same_place(file, other)) {
                throw file_error(file, "two callbacks of the fit, or one and its checkpoint, "
                                       "would write this file; give each a file of its own");
            }
        }
        files.push_back(file);
    };
    if (!checkpoint.empty()) {
        add(checkpoint);
    }
    for (callback const& each : callbacks) {
        if (auto const file = each.next_file(h)) {
            add(*file);
        }
        each.check_files(h);
    }
}

} // namespace castnet::detail
