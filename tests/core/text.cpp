// Text of pieces, and the errors that are made of it.
#include <castnet/core/error.hpp>

#include <cstdint>
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

TEST_CASE("errors are made of text or of pieces") {
    CHECK(std::string(cn::error("plain").what()) == "plain");
    CHECK(std::string(cn::error({"piece ", 1, " of ", 2}).what()) == "piece 1 of 2");
    cn::file_error const e("there.idx", {"byte ", 4, ": damaged"});
    CHECK(std::string(e.what()) == "castnet: there.idx: byte 4: damaged");
    CHECK(e.file_name == "there.idx");
}
