// Text of pieces, and the errors that are made of it.
#include <castnet/core/error.hpp>

#include <clocale>
#include <cstdint>
#include <cstdio>
#include <doctest/doctest.h>
#include <limits>

namespace cn = castnet;

TEST_CASE("strings, characters and numbers become one text") {
    std::string const name = "a name";
    CHECK(cn::string_of({}).empty());
    CHECK(cn::string_of({"found ", name, ", not ", std::string_view("others", 5), '!'}) ==
          "found a name, not other!");
    CHECK(cn::string_of({std::numeric_limits<std::int64_t>::min(), ' ',
                         std::numeric_limits<std::uint64_t>::max()}) ==
          "-9223372036854775808 18446744073709551615");
    CHECK(cn::string_of({short{-1}, ' ', std::uint8_t{65}, ' ', true}) == "-1 65 1");
    CHECK(cn::string_of({0.1, ' ', 1.5F, ' ', 1e300, ' ', -123456789.0}) ==
          "0.1 1.5 1e+300 -1.23457e+08");
    CHECK(cn::string_of({std::string_view("a\0b", 3)}).size() == 3);
    std::string text = "so";
    cn::append(text, {' ', 2, ' ', "on"});
    CHECK(text == "so 2 on");
}

TEST_CASE("things are counted in the singular or the plural") {
    CHECK(cn::quantity(0, "cell") == "0 cells");
    CHECK(cn::quantity(std::size_t{1}, "cell") == "1 cell");
    CHECK(cn::quantity(-1, "cell") == "-1 cells");
    CHECK(cn::quantity(1, "axis", "axes") == "1 axis");
    CHECK(cn::quantity(2, "axis", "axes") == "2 axes");
}

TEST_CASE("numbers have a point in every locale") {
    std::string const before = std::setlocale(LC_ALL, nullptr);
    for (char const* name : {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
        CAPTURE(name);
        if (std::setlocale(LC_ALL, name) != nullptr) { // it is installed
            CHECK(cn::string_of({0.1, ' ', 1234.5, ' ', 123456}) == "0.1 1234.5 123456");
            CHECK(cn::digits_of(2.0 / 3, 2) == "0.67");
            CHECK(cn::digits_of(1234567, 1, std::chars_format::fixed) == "1234567.0");
        }
    }
    std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("numbers are written as by printf") {
    double const largest = std::numeric_limits<double>::max();
    for (double const x :
         {0.0, -0.0, 1.0, 123456.0, 1234567.0, 1e-4, 1e-5, largest, -1 / largest,
          std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        CAPTURE(x);
        auto const printed = [&](char const* format) {
            char text[512];
            std::snprintf(text, sizeof text, format, x);
            return std::string{text};
        };
        CHECK(cn::string_of({x}) == printed("%g"));
        CHECK(cn::digits_of(x, 3) == printed("%.3g"));
        CHECK(cn::digits_of(x, 4, std::chars_format::fixed) == printed("%.4f"));
        CHECK(cn::digits_of(x, 4, std::chars_format::scientific) == printed("%.4e"));
    }
}

TEST_CASE("errors are made of text or of pieces") {
    CHECK(std::string(cn::error("plain").what()) == "plain");
    CHECK(std::string(cn::error({"piece ", 1, " of ", 2}).what()) == "piece 1 of 2");
    cn::file_error const e("there.idx", {"byte ", 4, ": damaged"});
    CHECK(std::string(e.what()) == "castnet: there.idx: byte 4: damaged");
    CHECK(e.file_name == "there.idx");
}
