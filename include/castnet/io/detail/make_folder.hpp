// Creation of a folder, with those that it lies in. Needs POSIX. (std::filesystem would take nvcc
// 26 MiB in every program.)
#pragma once

#include <castnet/io/file.hpp>

namespace castnet::io::detail {

// Does nothing if the folder is there already. Throws file_error.
[[gnu::noinline]] inline void make_folder(std::string const& path) {
    for (size_t end = 0; end != path.npos;) {
        end = path.find('/', end + 1);
        std::string const part = path.substr(0, end);
        if (::mkdir(part.c_str(), 0777) != 0) {
            int const reason = errno;
            struct stat found{};
            if (::stat(part.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
                errno = reason;
                system_failure(path, "cannot make the folder");
            }
        }
    }
}

} // namespace castnet::io::detail
