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

// Throws file_error for a name that is empty, or that the system would take for a shorter one.
[[gnu::noinline]] inline void check_name(std::string const& path) {
    if (path.empty()) {
        throw file_error("\"\"", "the name of the file is empty");
    }
    if (path.find('\0') != path.npos) {
        throw file_error(path.substr(0, path.find('\0')),
                         "after this the file's name has a byte of 0, at which the "
                         "system would end it");
    }
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

// The system's open(), but never in the place of standard input, output or error: a program may
// have closed these, and something in it still writes to them.
[[gnu::noinline]] inline int open(char const* path, int flags, mode_t mode = 0) {
    int const fd = ::open(path, flags | O_CLOEXEC, mode);
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    int const above = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (above < 0) {
        int const why = errno;
        ::close(fd);
        errno = why;
    } else {
        ::close(fd);
    }
    return above;
}

// Throws file_error unless `status`, of `path`, is that of a regular file: a FIFO or a device may
// block, or never end.
[[gnu::noinline]] inline void check_regular(std::string const& path, struct stat const& status) {
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

// A regular file, open for reading. Throws file_error when it cannot be opened or is none.
struct regular_file {
    descriptor file{-1};
    size_t size = 0; // when it was opened

    [[gnu::noinline]] explicit regular_file(std::string const& path) {
        check_name(path);
        struct stat status{};
        // Checked before, since opening a device may have effects, and after, since it may be
        // another file by then.
        if (::stat(path.c_str(), &status) == 0) {
            check_regular(path, status);
            file.fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
        }
        if (file.fd < 0 || ::fstat(file.fd, &status) != 0) {
            system_failure(path, "cannot open the file for reading");
        }
        check_regular(path, status);
        size = static_cast<size_t>(status.st_size);
    }
};

} // namespace detail

inline bool exists(std::string const& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0;
}

// A regular file. Throws file_error when it cannot be opened or is none.
class file_source : public source {
public:
    explicit file_source(std::string const& path) : source{path}, opened_{path} {}

    // Unknown if the system does not report it (/proc) or the file has grown.
    size_t remaining() const override {
        return position() < opened_.size ? opened_.size - position() : unknown;
    }

private:
    [[gnu::noinline]] size_t read_some(std::span<unsigned char> out) override {
        for (;;) {
            auto const got = ::read(opened_.file.fd, out.data(), out.size());
            if (got >= 0) {
                return static_cast<size_t>(got);
            }
            if (errno != EINTR) {
                detail::system_failure(file(), "cannot read the file");
            }
        }
    }

    detail::regular_file opened_;
};

// A regular file of which any part is read, by several threads at the same time. All functions
// throw file_error.
class random_access_file {
public:
    explicit random_access_file(std::string path) : path_{std::move(path)}, opened_{path_} {}

    std::string const& path() const { return path_; }
    size_t size() const { return opened_.size; } // when it was opened

    // The bytes from number `at` on, as many as `out` has.
    void read(size_t at, std::span<unsigned char> out) const {
        while (!out.empty()) {
            auto const got =
                ::pread(opened_.file.fd, out.data(), out.size(), static_cast<off_t>(at));
            if (got > 0) {
                at += static_cast<size_t>(got);
                out = out.subspan(static_cast<size_t>(got));
            } else if (got == 0) {
                throw file_error(path_, {"byte ", at, ": the file ends here, expected ",
                                         quantity(out.size(), "byte"), " more"});
            } else if (errno != EINTR) {
                detail::system_failure(path_, "cannot read the file");
            }
        }
    }

private:
    std::string path_;
    detail::regular_file opened_;
};

// The content of a regular file. Throws file_error when it cannot be read, does not fit into
// memory, or has more than `most` bytes.
[[gnu::noinline]] inline bytes read_file(std::string const& path,
                                         size_t most = std::numeric_limits<size_t>::max()) {
    file_source file{path};
    return file.read_all(most);
}

} // namespace castnet::io
