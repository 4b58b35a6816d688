// Reader of regular files. Needs POSIX.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/source.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace castnet::io {

namespace detail {

// Called right after a failed system call.
[[noreturn, gnu::cold]] inline void system_failure(std::string const& path, char const* attempt) {
    throw file_error(path, {attempt, ": ", std::strerror(errno)});
}

struct descriptor {
    int fd = -1;

    explicit descriptor(int opened) : fd{opened} {}
    descriptor(descriptor const&) = delete;
    descriptor& operator=(descriptor const&) = delete;
    ~descriptor() {
        if (fd >= 0) {
            ::close(fd);
        }
    }
};

// Throws file_error unless `status`, of `path`, is that of a regular file: a FIFO or a device may
// block, or never end.
[[gnu::cold]] inline void check_regular(std::string const& path, struct stat const& status) {
    auto const type = status.st_mode & S_IFMT;
    if (type != S_IFREG) {
        throw file_error(path, {"is ",
                                type == S_IFDIR    ? "a directory"
                                : type == S_IFIFO  ? "a FIFO"
                                : type == S_IFSOCK ? "a socket"
                                                   : "a device",
                                ", expected a regular file"});
    }
}

} // namespace detail

inline bool exists(std::string const& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0;
}

// A regular file. Throws file_error when it cannot be opened or is none.
class file_source : public source {
public:
    [[gnu::cold]] explicit file_source(std::string const& path) : source{path} {
        struct stat status{};
        // Checked before, since opening a device may have effects, and after, since it may be
        // another file by then.
        if (::stat(path.c_str(), &status) == 0) {
            detail::check_regular(path, status);
            file_.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        }
        if (file_.fd < 0 || ::fstat(file_.fd, &status) != 0) {
            detail::system_failure(path, "cannot open the file for reading");
        }
        detail::check_regular(path, status);
        size_ = static_cast<size_t>(status.st_size);
    }

    // Unknown if the system does not report it (/proc) or the file has grown.
    size_t remaining() const override { return position() < size_ ? size_ - position() : unknown; }

private:
    [[gnu::cold]] size_t read_some(std::span<unsigned char> out) override {
        for (;;) {
            auto const got = ::read(file_.fd, out.data(), out.size());
            if (got >= 0) {
                return static_cast<size_t>(got);
            }
            if (errno != EINTR) {
                detail::system_failure(file(), "cannot read the file");
            }
        }
    }

    detail::descriptor file_{-1};
    size_t size_ = 0;
};

// The content of a regular file. Throws file_error when it cannot be read, does not fit into
// memory, or has more than `most` bytes.
[[gnu::cold]] inline bytes read_file(std::string const& path,
                                     size_t most = std::numeric_limits<size_t>::max()) {
    file_source file{path};
    auto content = file.read_up_to(std::min(most, file.remaining()));
    unsigned char next[1];
    if (content.size() == most && file.read(next) != 0) {
        throw file_error(path, {"the file has more than ", most, " bytes"});
    }
    return content;
}

} // namespace castnet::io
