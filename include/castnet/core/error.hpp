// Exceptions. Messages name the attempt, the fault found, and the remedy.
#pragma once

#include <castnet/core/text.hpp>

#include <stdexcept>

namespace castnet {

// A message is one text or pieces: error({"found ", count, " samples"}).
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
    [[gnu::cold]] explicit error(std::initializer_list<text_piece> message)
        : std::runtime_error{string_of(message)} {}
};

// Error of a file that cannot be read or written, or has invalid content; the message begins with
// its name.
struct file_error : error {
    [[gnu::cold]] file_error(std::string const& file, std::initializer_list<text_piece> what)
        : error{{"castnet: ", file, ": ", string_of(what)}}, file_name{file} {}
    file_error(std::string const& file, text_piece what) : file_error{file, {what}} {}

    std::string file_name;
};

} // namespace castnet
