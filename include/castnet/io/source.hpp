// Sequential source of a file's bytes.
#pragma once

#include <castnet/core/error.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::io {

using std::size_t;
using bytes = std::vector<unsigned char>;

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

// Reverses the bytes of a number, between little and big endian.
template <Number T>
constexpr T byte_swapped(T value) {
    struct raw {
        unsigned char byte[sizeof(T)];
    };
    auto const in = std::bit_cast<raw>(value);
    raw out{};
    for (size_t i = 0; i < sizeof(T); ++i) {
        out.byte[i] = in.byte[sizeof(T) - 1 - i];
    }
    return std::bit_cast<T>(out);
}

// Readers request as many bytes as their format's header announces. Memory grows with the bytes
// present, never with the header's claim. All functions throw file_error when the bytes cannot be
// read.
class source {
public:
    explicit source(std::string file) : file_{std::move(file)} {}
    source(source const&) = delete;
    source& operator=(source const&) = delete;
    virtual ~source() = default;

    std::string const& file() const { return file_; } // for messages
    size_t position() const { return position_; }     // bytes read so far

    static constexpr size_t unknown = std::numeric_limits<size_t>::max();
    // The number of remaining bytes; unknown for some inputs.
    virtual size_t remaining() const { return unknown; }

    // Fills `out`, with fewer bytes only at the end; returns their number.
    [[gnu::noinline]] size_t read(std::span<unsigned char> out) {
        size_t filled = 0;
        while (filled < out.size()) {
            size_t const got = read_some(out.subspan(filled));
            if (got == 0) {
                break;
            }
            filled += got;
            position_ += got;
        }
        return filled;
    }

    // The next `count` bytes, or as many as there are.
    [[gnu::noinline]] bytes read_up_to(size_t count) {
        try {
            bytes taken;
            size_t filled = 0;
            do {
                auto const room =
                    remaining() != unknown ? remaining() : std::max(filled, size_t{65536});
                taken.resize(filled + std::min(room, count - filled));
                filled += read(std::span{taken}.subspan(filled));
            } while (filled == taken.size() && filled < count && remaining() != 0);
            taken.resize(filled);
            return taken;
        } catch (std::bad_alloc const&) {
            refuse_size();
        } catch (std::length_error const&) {
            refuse_size();
        }
    }

    // All bytes that are left. Throws where they are more than `most`, before they are read if
    // their number is known.
    [[gnu::noinline]] bytes read_all(size_t most) {
        auto const check = [&](bool fits) {
            if (!fits) {
                throw file_error(file_, {"holds more than ", most, " bytes"});
            }
        };
        check(remaining() == unknown || remaining() <= most);
        bytes all = read_up_to(std::min(most, remaining()));
        unsigned char next[1];
        check(all.size() < most || read(next) == 0);
        return all;
    }

    // The next `count` bytes; `what` they are is for the message when there are fewer.
    [[gnu::noinline]] bytes take(size_t count, std::string_view what) {
        auto const start = position_;
        check_remaining(count, what);
        auto taken = read_up_to(count);
        if (taken.size() < count) {
            cut_short(start, what, count, taken.size());
        }
        return taken;
    }

    // The same into `out`, which is filled.
    [[gnu::noinline]] void fill(std::span<unsigned char> out, std::string_view what) {
        auto const start = position_;
        if (auto const got = read(out); got < out.size()) {
            cut_short(start, what, out.size(), got);
        }
    }

    template <Number T>
    T little(std::string_view what) {
        return read_number<T>(std::endian::little, what);
    }

    template <Number T>
    T big(std::string_view what) {
        return read_number<T>(std::endian::big, what);
    }

    // Throws where fewer than `count` bytes are left, as far as that is known.
    [[gnu::noinline]] void check_remaining(size_t count, std::string_view what) const {
        if (count > remaining()) {
            cut_short(position_, what, count, remaining());
        }
    }

    // Throws unless all bytes have been read; `what` ends here.
    [[gnu::noinline]] void check_end(std::string_view what) {
        unsigned char next[1];
        if (read(next) != 0) {
            throw file_error(file_, {"byte ", position_ - 1, ": found more bytes after ", what,
                                     "; the file is damaged or not of this format"});
        }
    }

    // For readers that run out of memory.
    [[noreturn, gnu::cold]] void refuse_size() const {
        throw file_error(file_, "the file does not fit into memory");
    }

private:
    // Reads some of the next bytes, at least one unless at the end; returns their number.
    virtual size_t read_some(std::span<unsigned char> out) = 0;

    [[noreturn, gnu::cold]] void cut_short(size_t start, std::string_view what, size_t needed,
                                           size_t found) const {
        throw file_error(file_,
                         {"byte ", start, ": ", what, " needs ", quantity(needed, "byte"),
                          ", found ", found, "; the file is cut short or not of this format"});
    }

    template <Number T>
    T read_number(std::endian order, std::string_view what) {
        struct raw {
            unsigned char byte[sizeof(T)];
        } number{};
        fill(number.byte, what);
        auto const value = std::bit_cast<T>(number);
        return order == std::endian::native ? value : byte_swapped(value);
    }

    std::string file_;
    size_t position_ = 0;
};

// Bytes in memory, which came from `file` and must outlive this.
class memory_source : public source {
public:
    memory_source(std::span<unsigned char const> content, std::string file)
        : source{std::move(file)}, content_{content} {}

    size_t remaining() const override { return content_.size() - position(); }

private:
    size_t read_some(std::span<unsigned char> out) override {
        auto const some = content_.subspan(position(), std::min(out.size(), remaining()));
        std::copy(some.begin(), some.end(), out.begin());
        return some.size();
    }

    std::span<unsigned char const> content_;
};

} // namespace castnet::io
