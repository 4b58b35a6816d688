// Concatenation of strings and numbers for messages, names and tables. Cheap to compile: one
// function for all of them, where every + of two std::strings would become code of its own.
#pragma once

#include <castnet/core/language.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace castnet {

// A number with so many digits, as by %.*g or, where `form` is fixed or scientific, %.*f or %.*e in
// the C locale.
[[gnu::noinline]] inline std::string
digits_of(double x, int count, std::chars_format form = std::chars_format::general) {
    char digits[512]; // the largest double has 309 before the point
    return {digits, std::to_chars(digits, digits + sizeof digits, x, form, count).ptr};
}

// A non-owning string, a character or a number. Integers are written in full, floating-point
// numbers with up to six digits, as by %g; whatever the program's locale, since files are made of
// this text.
class text_piece {
public:
    constexpr text_piece(std::string_view text) : text_{text.data()}, size_{text.size()} {}
    constexpr text_piece(char const* text) : text_piece{std::string_view(text)} {}
    constexpr text_piece(std::string const& text) : text_piece{std::string_view(text)} {}
    constexpr text_piece(char c) : character_{c}, kind_{kind::character} {}
    template <std::signed_integral N>
    constexpr text_piece(N n) : integer_{n}, kind_{kind::integer} {}
    template <std::unsigned_integral N>
    constexpr text_piece(N n) : natural_{n}, kind_{kind::natural} {}
    constexpr text_piece(double x) : real_{x}, kind_{kind::real} {}
    constexpr text_piece(float x) : text_piece{static_cast<double>(x)} {}

    [[gnu::noinline]] void append_to(std::string& out) const {
        char digits[32] = "";
        switch (kind_) {
        case kind::text:
            out.append(text_, size_);
            break;
        case kind::character:
            out += character_;
            break;
        case kind::integer:
            std::snprintf(digits, sizeof digits, "%lld", integer_);
            break;
        case kind::natural:
            std::snprintf(digits, sizeof digits, "%llu", natural_);
            break;
        case kind::real:
            out += digits_of(real_, 6);
            break;
        }
        out += digits;
    }

private:
    enum class kind : unsigned char { text, character, integer, natural, real };
    union {
        char const* text_;
        char character_;
        long long integer_;
        unsigned long long natural_;
        double real_;
    };
    std::size_t size_ = 0;
    kind kind_ = kind::text;
};

// The pieces must not be of `text` itself.
[[gnu::noinline]] inline void append(std::string& text, std::initializer_list<text_piece> pieces) {
    for (text_piece const& piece : pieces) {
        piece.append_to(text);
    }
}

[[gnu::noinline]] inline std::string string_of(std::initializer_list<text_piece> pieces) {
    std::string text;
    append(text, pieces);
    return text;
}

// A number of things: "1 cell", "2 cells"; `many` where the plural is another one.
template <std::integral N>
[[gnu::noinline]] std::string quantity(N n, std::string_view one, std::string_view many = {}) {
    bool const takes_s = n != 1 && many.empty();
    return string_of({n, ' ', n == 1 || takes_s ? one : many, takes_s ? "s" : ""});
}

} // namespace castnet
