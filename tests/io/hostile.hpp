// What the tests of the file readers share: a directory that goes away, and damaged files.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/io/atomic_file.hpp>

#include <dirent.h>
#include <doctest/doctest.h>
#include <filesystem>

namespace castnet::testing {

// A fresh directory where the test runs; removed, with all in it, at the end of the test.
struct temporary_directory {
    std::string path = "castnet-test-XXXXXX";

    temporary_directory() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
    temporary_directory(temporary_directory const&) = delete;
    temporary_directory& operator=(temporary_directory const&) = delete;
    ~temporary_directory() {
        std::error_code failed;
        std::filesystem::remove_all(path, failed);
    }

    std::string operator/(std::string const& name) const { return path + "/" + name; }

    std::vector<std::string> names() const {
        std::vector<std::string> found;
        auto* const directory = ::opendir(path.c_str());
        while (auto const* const entry = ::readdir(directory)) {
            std::string const name = entry->d_name;
            if (name != "." && name != "..") {
                found.push_back(name);
            }
        }
        ::closedir(directory);
        return found;
    }

    std::string put(std::string const& name, io::bytes const& content) const {
        auto* const file = std::fopen((*this / name).c_str(), "wb");
        REQUIRE(file != nullptr);
        for (auto const byte : content) {
            std::fputc(byte, file);
        }
        REQUIRE(std::fclose(file) == 0);
        return *this / name;
    }
};

// Closes standard input, output and error, and opens them again at its end.
class closed_standard_streams {
public:
    closed_standard_streams() {
        for (int i = 0; i < 3; ++i) {
            kept_[i] = ::fcntl(i, F_DUPFD_CLOEXEC, 3);
            ::close(i);
        }
    }
    closed_standard_streams(closed_standard_streams const&) = delete;
    closed_standard_streams& operator=(closed_standard_streams const&) = delete;
    ~closed_standard_streams() {
        for (int i = 0; i < 3; ++i) {
            ::close(i);
            if (kept_[i] >= 0) { // it was open
                ::dup2(kept_[i], i);
                ::close(kept_[i]);
            }
        }
    }

    // Whether nothing has been opened in their place.
    static bool are_closed() {
        return ::fcntl(0, F_GETFD) < 0 && ::fcntl(1, F_GETFD) < 0 && ::fcntl(2, F_GETFD) < 0;
    }

private:
    int kept_[3];
};

inline io::bytes bytes_of(std::string const& text) {
    return {text.begin(), text.end()};
}

// What the error says that `read` throws; other exceptions pass and fail the test.
template <class Error, class F>
doctest::String refusal_of(F read) {
    try {
        read();
    } catch (Error const& refused) {
        return {refused.what()};
    }
    return {"(accepted)"};
}
template <class F>
doctest::String refusal(F read) {
    return refusal_of<file_error>(read);
}

// Reads every strict beginning of `valid`: each must be refused.
template <class F>
void check_truncations(io::bytes const& valid, F read) {
    for (size_t size = 0; size < valid.size(); ++size) {
        CAPTURE(size);
        io::bytes const cut(valid.begin(), valid.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK_THROWS_AS(read(cut), file_error);
    }
}

// Reads thousands of damaged copies of `valid`: bytes flipped, replaced, inserted, removed. Each
// must load or throw file_error. Returns how many were refused.
template <class F>
unsigned check_mutations(io::bytes const& valid, std::uint64_t seed, unsigned rounds, F read) {
    unsigned refused = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        CAPTURE(round);
        auto damaged = valid;
        auto const changes = 1 + philox({round, 0, 0, 1}, key_of(seed)).x0 % 4;
        for (std::uint32_t change = 0; change < changes && !damaged.empty(); ++change) {
            auto const random = philox({round, change, 0, 0}, key_of(seed));
            auto const at = random.x0 % damaged.size();
            auto const place = damaged.begin() + static_cast<std::ptrdiff_t>(at);
            auto const byte = static_cast<unsigned char>(random.x2);
            switch (random.x1 % 4) {
            case 0:
                *place = static_cast<unsigned char>(*place ^ 1U << byte % 8);
                break;
            case 1:
                *place = byte;
                break;
            case 2:
                damaged.insert(place, damaged[random.x3 % damaged.size()]);
                break;
            default:
                damaged.erase(place);
            }
        }
        try {
            read(damaged);
        } catch (file_error const&) {
            ++refused;
        } catch (std::exception const& other) {
            FAIL_CHECK("not a file_error: " << other.what());
        }
    }
    return refused;
}

} // namespace castnet::testing
