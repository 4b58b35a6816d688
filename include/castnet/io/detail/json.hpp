// Pull parser for the part of JSON (RFC 8259) that file headers use: objects, arrays, strings and
// whole numbers. The caller says which token must come next, so nesting is no deeper than its code.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/detail/shown.hpp>
#include <castnet/io/detail/utf8.hpp>
#include <castnet/io/source.hpp>

#include <limits>

namespace castnet::io::detail {

// `text` as a JSON string, with its quotes.
[[gnu::noinline]] inline std::string json_string(std::string_view text) {
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

// Context for messages, composed only when needed: a text and a name from the file.
struct json_place {
    char const* text;
    std::string_view name = {};
    bool named = name.data() != nullptr;
};

// Streaming reader of a document in the next `size` bytes of a source: only the values returned are
// ever in memory.
class json_reader {
public:
    json_reader(source& in, size_t size) : in_{in}, size_{size}, left_{size} {}

    size_t size() const { return size_; } // of the document

    // Calls member(key) for each member of an object, with the reader at its value.
    template <class F>
    void object(json_place const& what, F member) {
        expect('{', what);
        if (accept('}')) {
            return;
        }
        do {
            auto key = string(what, "a key of ");
            expect(':', {"the value of ", key});
            member(key);
        } while (accept(','));
        expect('}', what, "the end of ");
    }

    // Calls element() for each element of an array, with the reader at it.
    template <class F>
    void array(json_place const& what, F element) {
        expect('[', what);
        if (accept(']')) {
            return;
        }
        do {
            element();
        } while (accept(','));
        expect(']', what, "the end of ");
    }

    // A whole number without sign, fraction or exponent.
    size_t integer(json_place const& what) {
        skip_whitespace();
        bool const zero = peek() == '0';
        size_t value = 0;
        unsigned digits = 0;
        for (; peek() >= '0' && peek() <= '9' && !(zero && digits == 1); ++digits) {
            auto const digit = static_cast<size_t>(next() - '0');
            if (value > (std::numeric_limits<size_t>::max() - digit) / 10) {
                fail({text_of(what), " to fit into 64 bits"});
            }
            value = 10 * value + digit;
        }
        if (digits == 0) {
            fail({"a whole number without sign for ", text_of(what)});
        }
        return value;
    }

    std::string string(json_place const& what, char const* part = "") {
        expect('"', what, part);
        std::string value;
        for (;;) {
            append_plain(value);
            if (peek() < 0) {
                fail({"the closing quote of ", part, text_of(what)});
            }
            if (peek() < 0x20) {
                fail({"control characters to be escaped"});
            }
            if (next() == '"') {
                break;
            }
            append_escape(value);
        }
        if (!is_utf8(value)) {
            fail({"valid UTF-8 in the string before"});
        }
        return value;
    }

    void end() {
        skip_whitespace();
        if (peek() >= 0) {
            fail({"nothing after the closing brace"});
        }
    }

    // The next byte; below 0 at the end.
    int peek() { return at_ < held_ || read_on() ? buffer_[at_] : -1; }

    [[noreturn, gnu::cold]] void fail(std::initializer_list<text_piece> expected) {
        std::string found = "the end of the header";
        if (int const byte = peek(); byte >= 0) {
            found = byte > ' ' && byte < 127 ? string_of({'\'', static_cast<char>(byte), '\''})
                                             : string_of({"byte value ", byte});
        }
        throw file_error(in_.file(), {"byte ", in_.position() - (held_ - at_), ": found ", found,
                                      ", expected ", string_of(expected)});
    }

    static std::string text_of(json_place const& what) {
        return string_of({what.text, what.named ? shown(what.name) : ""});
    }

private:
    // Fills the buffer again, if there is more.
    [[gnu::noinline]] bool read_on() {
        held_ = std::min(left_, sizeof buffer_);
        in_.fill(std::span{buffer_}.first(held_), "the header");
        left_ -= held_;
        at_ = 0;
        return held_ > 0;
    }

    int next() {
        int const byte = peek();
        ++at_;
        return byte;
    }

    void skip_whitespace() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
            ++at_;
        }
    }

    bool accept(char wanted) {
        skip_whitespace();
        return accept_here(wanted);
    }
    bool accept_here(char wanted) {
        bool const there = peek() == wanted;
        at_ += there ? 1 : 0;
        return there;
    }

    void expect(char wanted, json_place const& what, char const* part = "") {
        if (!accept(wanted)) {
            fail({'\'', wanted, "' for ", part, text_of(what)});
        }
    }

    // The bytes of a string up to its end, an escape or what may not be in it.
    void append_plain(std::string& value) {
        while (peek() >= 0) {
            auto const first = at_;
            while (at_ < held_ && buffer_[at_] >= 0x20 && buffer_[at_] != '"' &&
                   buffer_[at_] != '\\') {
                ++at_;
            }
            value.append(reinterpret_cast<char const*>(buffer_) + first, at_ - first);
            if (at_ < held_) {
                return;
            }
        }
    }

    // Behind a backslash.
    [[gnu::noinline]] void append_escape(std::string& value) {
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        auto const which = names.find(static_cast<char>(peek()));
        if (peek() >= 0 && which != std::string_view::npos) {
            value += meanings[which];
            ++at_;
        } else if (peek() == 'u') {
            ++at_;
            append_utf8(value, code_point());
        } else {
            fail({"one of the escapes of JSON"});
        }
    }

    [[gnu::noinline]] std::uint32_t code_point() {
        auto const first = four_hex_digits();
        if (first < 0xD800 || first > 0xDFFF) {
            return first;
        }
        // Beyond U+FFFF a code point is written as a high and a low surrogate.
        if (first < 0xDC00 && accept_here('\\') && accept_here('u')) {
            auto const second = four_hex_digits();
            if (second >= 0xDC00 && second <= 0xDFFF) {
                return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            }
        }
        fail({"surrogates in pairs, high before low"});
    }

    [[gnu::noinline]] std::uint32_t four_hex_digits() {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            int const c = peek();
            auto const digit = c >= '0' && c <= '9'   ? c - '0'
                               : c >= 'a' && c <= 'f' ? c - 'a' + 10
                               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                      : -1;
            if (digit < 0) {
                fail({"four hexadecimal digits after \\u"});
            }
            ++at_;
            value = 16 * value + static_cast<std::uint32_t>(digit);
        }
        return value;
    }

    source& in_;
    size_t size_, left_; // bytes that are not in the buffer yet
    unsigned char buffer_[65536];
    size_t at_ = 0, held_ = 0; // in the buffer
};

} // namespace castnet::io::detail
