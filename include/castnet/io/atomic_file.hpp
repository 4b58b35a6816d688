// Atomically written files: the old content stays until the new one is complete on the disk. Needs
// POSIX.
#pragma once

#include <castnet/io/file.hpp>

#include <atomic>
#include <cstdio>
#include <dirent.h>
#include <sys/file.h>

namespace castnet::io {

namespace detail {

// "folder/" of "folder/name"; "" where there is none.
[[gnu::noinline]] inline std::string folder_of(std::string const& path) {
    return path.substr(0, path.rfind('/') + 1);
}

// Where a file of this name is, or would be: symbolic links followed, even one to nothing yet.
[[gnu::noinline]] inline std::string followed(std::string path) {
    constexpr int most_links = 40; // as Linux
    for (int links = 0; links < most_links; ++links) {
        char target[4096];
        auto const size = ::readlink(path.c_str(), target, sizeof target);
        if (size < 0) {
            return path;
        }
        std::string const link(target, static_cast<size_t>(size));
        path = string_of({link.starts_with('/') ? "" : folder_of(path), link});
    }
    errno = ELOOP;
    system_failure(path, "cannot follow the symbolic link");
}

[[gnu::noinline]] inline bool is_at(std::string const& path, int fd) {
    struct stat named{}, open{};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(fd, &open) == 0 &&
           named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

// Temporary files for a target are called "<target>.tmp-<process>-<number>". Their writer holds a
// lock (flock), which ends with its process: a file without a lock is stale. On file systems
// without locks no file counts as stale.
class temporary_files {
public:
    explicit temporary_files(std::string const& target) : folder_{folder_of(target)} {
        constexpr size_t longest = 200; // leaves room in a name, of which systems take 255 bytes
        stem_ = target.substr(folder_.size(), longest) + ".tmp-";
    }

    // Creates one and locks it. Returns its descriptor, or one below 0 and errno.
    [[gnu::noinline]] int create(std::string& path) const {
        static std::atomic<unsigned> count{0};
        for (int tries = 0; tries < 10'000; ++tries) {
            path = string_of({folder_, stem_, ::getpid(), '-', count++});
            int const fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
            if (fd < 0 && errno != EEXIST) {
                return fd;
            }
            // Until it is locked, another process may take it for stale and remove it.
            struct stat status{};
            if (fd >= 0 && (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                ::fstat(fd, &status) == 0 && status.st_nlink > 0) {
                return fd;
            }
            if (fd >= 0) {
                ::close(fd);
            }
        }
        errno = EEXIST;
        return -1;
    }

    // Removes stale files, if this process has the permission.
    [[gnu::noinline]] void remove_left_behind() const {
        auto* const folder = ::opendir(folder_.empty() ? "." : folder_.c_str());
        if (folder == nullptr) {
            return;
        }
        while (auto const* const entry = ::readdir(folder)) {
            if (!is_temporary(entry->d_name)) {
                continue;
            }
            auto const path = folder_ + entry->d_name;
            descriptor const file{open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW)};
            if (file.fd >= 0 && ::flock(file.fd, LOCK_EX | LOCK_NB) == 0 && is_at(path, file.fd)) {
                ::unlink(path.c_str());
            }
        }
        ::closedir(folder);
    }

private:
    bool is_temporary(std::string_view name) const {
        auto const digits = [&] {
            auto const count = std::min(name.find_first_not_of("0123456789"), name.size());
            name.remove_prefix(count);
            return count > 0;
        };
        if (!name.starts_with(stem_)) {
            return false;
        }
        name.remove_prefix(stem_.size());
        if (!digits() || !name.starts_with('-')) {
            return false;
        }
        name.remove_prefix(1);
        return digits() && name.empty();
    }

    std::string folder_, stem_;
};

// Waits until the content is on the disk. Returns 0, or -1 and errno.
[[gnu::noinline]] inline int sync(int fd) {
    int result = 0;
    do {
        result = ::fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

} // namespace detail

// Atomically written file: write() fills a temporary file in the same folder, commit() puts it in
// the place of `path`. Without commit() nothing at `path` changes and the temporary file is
// removed; one of a process that was killed is removed by the next that writes to `path`. A
// symbolic link is followed; permissions of an old file are kept, but no setuid or setgid bit,
// which would be given to another owner's file. All functions throw file_error.
class atomic_file {
public:
    [[gnu::noinline]] explicit atomic_file(std::string const& path)
        : path_{path}, target_{detail::followed(path)} {
        detail::check_name(path);
        struct stat old{};
        bool const replaces = ::stat(target_.c_str(), &old) == 0;
        if (replaces) {
            detail::check_regular(path_, old);
        } else if (errno != ENOENT) {
            detail::system_failure(path_, "cannot write a file of this name");
        }
        detail::temporary_files const temporaries{target_};
        temporaries.remove_left_behind(); // first, since the disk may be full of them
        file_.fd = temporaries.create(temporary_);
        if (file_.fd < 0) {
            detail::system_failure(path_, errno == ENOENT
                                              ? "the folder that it is to be in does not exist"
                                              : "cannot create a temporary file beside it");
        }
        if (replaces) {
            (void)::fchmod(file_.fd, old.st_mode & 0777); // not every file system can
        }
    }

    atomic_file(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file const&) = delete;

    ~atomic_file() {
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }

    [[gnu::noinline]] void write(std::span<unsigned char const> content) {
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

    // Waits until the content is on the disk, then renames. Call once, last. When it throws because
    // the folder cannot be brought to the disk, the new content is in place, but may not outlast a
    // loss of power.
    [[gnu::noinline]] void commit() {
        auto const folder = detail::folder_of(target_); // before the rename, since it may throw
        if (detail::sync(file_.fd) != 0) {
            detail::system_failure(path_, "cannot bring the file to the disk");
        }
        if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
            detail::system_failure(path_, "cannot rename the complete temporary file to it");
        }
        temporary_.clear();
        // The rename itself lasts when the folder is on the disk, too. Some file systems cannot do
        // that (EINVAL), and some folders may be written but not opened.
        detail::descriptor const parent{
            detail::open(folder.empty() ? "." : folder.c_str(), O_RDONLY)};
        if (parent.fd < 0 ? errno != EACCES : detail::sync(parent.fd) != 0 && errno != EINVAL) {
            detail::system_failure(path_, "the file is written, but cannot bring its folder to "
                                          "the disk");
        }
    }

private:
    std::string path_, target_, temporary_;
    detail::descriptor file_{-1};
};

// Whether atomic_files of two paths are one file.
[[gnu::noinline]] inline bool same_place(std::string const& a, std::string const& b) {
    std::string const at = detail::followed(a), other = detail::followed(b);
    std::string const folder = detail::folder_of(at), others = detail::folder_of(other);
    struct stat of_a{}, of_b{};
    return at.substr(folder.size()) == other.substr(others.size()) &&
           ::stat(folder.empty() ? "." : folder.c_str(), &of_a) == 0 &&
           ::stat(others.empty() ? "." : others.c_str(), &of_b) == 0 &&
           of_a.st_ino == of_b.st_ino && of_a.st_dev == of_b.st_dev;
}

// Throws file_error where an atomic_file of this path cannot be made now, so that what takes long
// need not begin; leaves nothing behind.
[[gnu::noinline]] inline void check_writable(std::string const& path) {
    atomic_file const attempt{path};
}

} // namespace castnet::io
