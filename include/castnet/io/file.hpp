// Whole files in and out of memory. Reading never trusts a size it did not see; writing is atomic:
// the old content stays until the new one is complete on the disk. Needs POSIX.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace castnet::io {

using std::size_t;
using bytes = std::vector<unsigned char>;

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

} // namespace detail

inline bool exists(std::string const& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0;
}

// The content of a file. Throws file_error when it cannot be read, is a directory, does not fit
// into memory, or has more than `most` bytes.
[[gnu::cold]] inline bytes read_file(std::string const& path,
                                     size_t most = std::numeric_limits<size_t>::max()) {
    detail::descriptor const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat status{};
    if (file.fd < 0 || ::fstat(file.fd, &status) != 0) {
        detail::system_failure(path, "cannot open the file for reading");
    }
    bytes content;
    size_t filled = 0;
    auto const refuse_more_than_most = [&](size_t size) {
        if (size > most) {
            throw file_error(path, {"the file has more than ", most, " bytes"});
        }
    };
    try {
        refuse_more_than_most(static_cast<size_t>(status.st_size));
        // One byte more than the file is said to have, so that its end is seen without growing.
        content.resize(S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) + 1 : 65536);
        for (;;) {
            if (filled == content.size()) {
                content.resize(2 * filled);
            }
            auto const got = ::read(file.fd, content.data() + filled, content.size() - filled);
            if (got == 0) {
                break;
            }
            if (got > 0) {
                filled += static_cast<size_t>(got);
                refuse_more_than_most(filled);
            } else if (errno != EINTR) {
                detail::system_failure(path, "cannot read the file");
            }
        }
    } catch (std::bad_alloc const&) {
        throw file_error(path, "the file does not fit into memory");
    } catch (std::length_error const&) {
        throw file_error(path, "the file does not fit into memory");
    }
    content.resize(filled);
    return content;
}

// A file that comes into being as a whole: write() fills a temporary file in the same directory,
// commit() puts it in the place of `path`. Without commit() nothing at `path` changes and the
// temporary file is removed. A symbolic link is followed; permissions of an old file are kept.
class atomic_file {
public:
    [[gnu::cold]] explicit atomic_file(std::string const& path)
        : path_{path}, target_{resolved(path)} {
        struct stat old{};
        bool const replaces = ::stat(target_.c_str(), &old) == 0;
        if (replaces && !S_ISREG(old.st_mode)) {
            throw file_error(path_, "cannot write the file: something that is not a file (a "
                                    "directory or a device) has this name");
        }
        static std::atomic<unsigned> count{0};
        do { // a name may be left over from a process that crashed
            temporary_ = string_of({target_, ".tmp-", ::getpid(), '-', count++});
            file_.fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        } while (file_.fd < 0 && errno == EEXIST);
        if (file_.fd < 0) {
            detail::system_failure(path_, "cannot create a temporary file beside it");
        }
        if (replaces) {
            (void)::fchmod(file_.fd, old.st_mode & 07777); // not every file system can
        }
    }

    atomic_file(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file const&) = delete;

    ~atomic_file() {
        if (file_.fd >= 0) {
            ::unlink(temporary_.c_str());
        }
    }

    [[gnu::cold]] void write(std::span<unsigned char const> content) {
        while (!content.empty()) {
            auto const done = ::write(file_.fd, content.data(), content.size());
            if (done >= 0) {
                content = content.subspan(static_cast<size_t>(done));
            } else if (errno != EINTR) {
                detail::system_failure(path_, "cannot write the file");
            }
        }
    }

    void write(std::string const& text) {
        write({reinterpret_cast<unsigned char const*>(text.data()), text.size()});
    }

    // Waits until the content is on the disk, then renames. Call once, last.
    [[gnu::cold]] void commit() {
        if (::fsync(file_.fd) != 0) {
            detail::system_failure(path_, "cannot bring the file to the disk");
        }
        if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
            detail::system_failure(path_, "cannot rename the complete temporary file to it");
        }
        ::close(file_.fd);
        file_.fd = -1;
        // The rename itself lasts when the directory is on the disk, too; not every system can.
        auto const slash = target_.rfind('/');
        auto const directory = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
        detail::descriptor const parent{::open(directory.c_str(), O_RDONLY | O_CLOEXEC)};
        if (parent.fd >= 0) {
            ::fsync(parent.fd);
        }
    }

private:
    static std::string resolved(std::string const& path) {
        char* const real = ::realpath(path.c_str(), nullptr);
        std::string const target = real == nullptr ? path : real;
        std::free(real);
        return target;
    }

    std::string path_, target_, temporary_;
    detail::descriptor file_{-1};
};

} // namespace castnet::io
