// A reading position in bytes that never goes past their end.
#pragma once

#include <castnet/core/error.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

namespace castnet::io {

using std::size_t;

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

// Turns the bytes of a number round: between little and big endian.
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

// Reads `content`, which came from `file`; both must outlive the cursor. What does not fit into
// the rest throws file_error, naming the byte offset and `what` was wanted.
class cursor {
public:
    cursor(std::span<unsigned char const> content, std::string const& file)
        : content_{content}, file_{file} {}

    size_t position() const { return position_; }
    size_t remaining() const { return content_.size() - position_; }

    std::span<unsigned char const> take(size_t count, char const* what) {
        if (count > remaining()) {
            throw file_error(file_,
                             {"byte ", position_, ": ", what, " needs ", count, " bytes, found ",
                              remaining(), "; the file is cut short or not of this format"});
        }
        auto const taken = content_.subspan(position_, count);
        position_ += count;
        return taken;
    }

    template <Number T>
    T little(char const* what) {
        return read<T>(std::endian::little, what);
    }

    template <Number T>
    T big(char const* what) {
        return read<T>(std::endian::big, what);
    }

private:
    template <Number T>
    T read(std::endian order, char const* what) {
        struct raw {
            unsigned char byte[sizeof(T)];
        } number{};
        auto const taken = take(sizeof(T), what);
        for (size_t i = 0; i < sizeof(T); ++i) {
            number.byte[i] = taken[i];
        }
        auto const value = std::bit_cast<T>(number);
        return order == std::endian::native ? value : byte_swapped(value);
    }

    std::span<unsigned char const> content_;
    std::string const& file_;
    size_t position_ = 0;
};

} // namespace castnet::io
