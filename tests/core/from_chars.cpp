#include <castnet/core/from_chars.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string_view>
#include <system_error>
#include <tuple>

namespace {

struct outcome {
    double value;
    std::string_view rest;
    std::errc failure;
};

outcome read(std::string_view text) {
    double value = 7; // stays where there is no number
    auto const [rest, failure] =
        castnet::detail::from_chars(text.data(), text.data() + text.size(), value);
    return {value, text.substr(std::size_t(rest - text.data())), failure};
}

} // namespace

TEST_CASE("numbers end where the text goes on") {
    for (auto const& [text, value, rest] : {
             std::tuple<char const*, double, char const*>{"1.5", 1.5, ""},
             {"-2e3,5", -2000, ",5"},
             {"1.5.2", 1.5, ".2"},
             {"3 4", 3, " 4"},
             {"1e", 1, "e"},
             {"0x10", 0, "x10"},
             {".25", 0.25, ""},
             {"4e-320", 4e-320, ""},
             {"1.7976931348623157e308", std::numeric_limits<double>::max(), ""},
             {"0.1", 0.1, ""},
             {"inf", std::numeric_limits<double>::infinity(), ""},
             {"-Infinity!", -std::numeric_limits<double>::infinity(), "!"},
         }) {
        CAPTURE(text);
        outcome const found = read(text);
        CHECK(found.failure == std::errc{});
        CHECK(found.value == value);
        CHECK(found.rest == rest);
    }
    CHECK(std::isnan(read("nan").value));
    CHECK(read(std::string_view("12345", 3)).value == 123);
}

TEST_CASE("text that begins with no number") {
    for (char const* const text :
         {"", "+1", " 1", "\t1", "abc", "-", "- 1", "-+1", ".", "e5", ",1"}) {
        CAPTURE(text);
        outcome const found = read(text);
        CHECK(found.failure == std::errc::invalid_argument);
        CHECK(found.value == 7);
        CHECK(found.rest == text);
    }
}

TEST_CASE("numbers beyond the range of double") {
    for (char const* const text : {"1e400", "-1e400", "1e-400"}) {
        CAPTURE(text);
        outcome const found = read(text);
        CHECK(found.failure == std::errc::result_out_of_range);
        CHECK(found.value == 7);
        CHECK(found.rest == "");
    }
}
