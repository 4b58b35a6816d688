// What castnet throws. Every message says what was attempted, what was found and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace castnet {

struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A file that cannot be read or written, or does not hold what it should: names the file first.
struct file_error : error {
    file_error(std::string const& file, std::string const& what)
        : error("castnet: " + file + ": " + what), file_name{file} {}

    std::string file_name;
};

} // namespace castnet
