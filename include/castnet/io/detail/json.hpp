// The part of JSON (RFC 8259) that file headers use: objects, arrays, strings and whole numbers.
// The caller says what must come next, so nesting is as deep as the caller's code and no deeper.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/detail/utf8.hpp>

#include <limits>

namespace castnet::io::detail {

// `text` as a JSON string, with its quotes.
[[gnu::cold]] inline std::string json_string(std::string_view text) {
    constexpr char const* hex = "0123456789abcdef";
    std::string quoted = "\"";
    for (char const c : text) {
        auto const code = static_cast<unsigned char>(c);
        if (code < 0x20) {
            append(quoted, {"\\u00", hex[code >> 4], hex[code & 15]});
        } else {
            append(quoted, {c == '"' || c == '\\' ? "\\" : "", c});
        }
    }
    quoted += '"';
    return quoted;
}

// A name from a file as a message shows it: without control characters and not endless.
[[gnu::cold]] inline std::string shown(std::string_view name) {
    constexpr std::size_t longest = 100;
    return string_of({json_string(name.substr(0, longest)), name.size() > longest ? "..." : ""});
}

class json_reader {
public:
    // `text` begins at byte `base` of `file`; both must outlive the reader.
    json_reader(std::string_view text, std::string const& file, std::size_t base)
        : text_{text}, file_{file}, base_{base} {}

    // Calls member(key) for each member of an object, with the reader at its value.
    template <class F>
    void object(std::string const& what, F member) {
        expect('{', what);
        if (accept('}')) {
            return;
        }
        do {
            auto const key = string(string_of({"a key of ", what}));
            expect(':', string_of({"the value of ", shown(key)}));
            member(key);
        } while (accept(','));
        expect('}', string_of({"the end of ", what}));
    }

    // Calls element() for each element of an array, with the reader at it.
    template <class F>
    void array(std::string const& what, F element) {
        expect('[', what);
        if (accept(']')) {
            return;
        }
        do {
            element();
        } while (accept(','));
        expect(']', string_of({"the end of ", what}));
    }

    // A whole number without sign, fraction or exponent.
    [[gnu::cold]] std::size_t integer(std::string const& what) {
        skip_whitespace();
        auto const start = position_;
        std::size_t value = 0;
        while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
            auto const digit = static_cast<std::size_t>(text_[position_] - '0');
            if (value > (std::numeric_limits<std::size_t>::max() - digit) / 10) {
                fail({what, " to fit into 64 bits"});
            }
            value = 10 * value + digit;
            ++position_;
        }
        bool const leading_zero = position_ - start > 1 && text_[start] == '0';
        if (position_ == start || leading_zero) {
            position_ = start;
            fail({"a whole number without sign for ", what});
        }
        return value;
    }

    [[gnu::cold]] std::string string(std::string const& what) {
        expect('"', what);
        std::string value;
        for (;;) {
            auto const c = take({"the closing quote of ", what});
            if (c == '"') {
                break;
            }
            if (c == '\\') {
                append_escape(value);
            } else if (static_cast<unsigned char>(c) < 0x20) {
                --position_;
                fail({"control characters to be escaped"});
            } else {
                value += c;
            }
        }
        if (!is_utf8(value)) {
            fail({"valid UTF-8 in the string before"});
        }
        return value;
    }

    void end() {
        skip_whitespace();
        if (position_ != text_.size()) {
            fail({"nothing after the closing brace"});
        }
    }

    [[noreturn, gnu::cold]] void fail(std::initializer_list<text_piece> expected) const {
        std::string found = "the end of the header";
        if (position_ < text_.size()) {
            auto const byte = static_cast<unsigned char>(text_[position_]);
            found = byte > ' ' && byte < 127 ? string_of({'\'', text_[position_], '\''})
                                             : string_of({"byte value ", byte});
        }
        throw file_error(file_, {"byte ", base_ + position_, ": found ", found, ", expected ",
                                 string_of(expected)});
    }

private:
    void skip_whitespace() {
        while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t' ||
                                            text_[position_] == '\n' || text_[position_] == '\r')) {
            ++position_;
        }
    }

    bool accept(char wanted) {
        skip_whitespace();
        bool const there = position_ < text_.size() && text_[position_] == wanted;
        position_ += there ? 1 : 0;
        return there;
    }

    void expect(char wanted, std::string const& what) {
        if (!accept(wanted)) {
            fail({'\'', wanted, "' for ", what});
        }
    }

    char take(std::initializer_list<text_piece> what) {
        if (position_ == text_.size()) {
            fail(what);
        }
        return text_[position_++];
    }

    [[gnu::cold]] void append_escape(std::string& value) {
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        auto const c = take({"an escape sequence"});
        auto const which = names.find(c);
        if (which != std::string_view::npos) {
            value += meanings[which];
        } else if (c == 'u') {
            append_utf8(value, code_point());
        } else {
            --position_;
            fail({"one of the escapes of JSON"});
        }
    }

    [[gnu::cold]] std::uint32_t code_point() {
        auto const first = four_hex_digits();
        if (first < 0xD800 || first > 0xDFFF) {
            return first;
        }
        // Beyond U+FFFF a code point is written as a high and a low surrogate.
        if (first < 0xDC00 && take({"a low surrogate"}) == '\\' &&
            take({"a low surrogate"}) == 'u') {
            auto const second = four_hex_digits();
            if (second >= 0xDC00 && second <= 0xDFFF) {
                return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            }
        }
        fail({"surrogates in pairs, high before low"});
    }

    [[gnu::cold]] std::uint32_t four_hex_digits() {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            char const c = take({"four hexadecimal digits"});
            auto const digit = c >= '0' && c <= '9'   ? c - '0'
                               : c >= 'a' && c <= 'f' ? c - 'a' + 10
                               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                      : -1;
            if (digit < 0) {
                --position_;
                fail({"four hexadecimal digits after \\u"});
            }
            value = 16 * value + static_cast<std::uint32_t>(digit);
        }
        return value;
    }

    std::string_view text_;
    std::string const& file_;
    std::size_t base_;
    std::size_t position_ = 0;
};

} // namespace castnet::io::detail
