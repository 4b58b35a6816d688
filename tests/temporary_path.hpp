// A place for what a test writes, which no other process uses.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>

namespace check {

// The name of a file or folder among the system's temporary ones; it goes at the end of the test.
struct temporary_path {
    explicit temporary_path(std::string const& what)
        : name{(std::filesystem::temp_directory_path() /
                ("castnet_" + std::to_string(::getpid()) + "_" + what))
                   .string()} {}
    temporary_path(temporary_path const&) = delete;
    temporary_path& operator=(temporary_path const&) = delete;
    ~temporary_path() {
        std::error_code ignored; // a test may not have come to writing it
        std::filesystem::remove_all(name, ignored);
    }

    std::string name;
};

} // namespace check
