#include <castnet/io/text_lines.hpp>

#include "hostile.hpp"

using namespace castnet;
using namespace castnet::testing;

namespace {

std::vector<std::string> lines_of(std::string const& text) {
    auto const content = bytes_of(text);
    io::memory_source in{content, "text"};
    io::text_lines const lines{in};
    std::vector<std::string> all;
    for (std::string_view const line : lines) {
        CHECK(line == lines[all.size()]);
        all.emplace_back(line);
    }
    static_assert(std::forward_iterator<io::text_lines::iterator>);
    return all;
}

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("lines end with a newline, with or without a carriage return, or with the text") {
    CHECK(lines_of("a\nbc\n") == strings{"a", "bc"});
    CHECK(lines_of("a\nbc") == strings{"a", "bc"});
    CHECK(lines_of("a\r\n\r\nb\r\n") == strings{"a", "", "b"});
    CHECK(lines_of("\n\n") == strings{"", ""});
    CHECK(lines_of("") == strings{});
    CHECK(lines_of("\xEF\xBB\xBF") == strings{});
    CHECK(lines_of("\xEF\xBB\xBF"
                   "a\rb\n") == strings{"a\rb"});
    CHECK(lines_of(std::string("a\0b\n", 4)) == strings{std::string("a\0b", 3)});
}

TEST_CASE("a text in UTF-16 is refused") {
    CHECK(refusal([] {
              lines_of(std::string("\xFF\xFE"
                                   "a\0\n\0",
                                   6));
          }) == "castnet: text: the text is in UTF-16, expected UTF-8; save it as that");
    CHECK_THROWS_AS(lines_of("\xFE\xFF"), file_error);
}

TEST_CASE("a text has its lines, and no more bytes than allowed") {
    temporary_directory const folder;
    folder.put("t", bytes_of("one\ntwo\n"));
    auto const lines = io::read_lines(folder / "t");
    auto const copy = lines;
    CHECK(copy[1] == "two");
    CHECK(copy[1].data() == lines[1].data());
    CHECK(refusal([&] { (void)lines[2]; }) == doctest::Contains("no line 2, the text has 2"));
    CHECK(io::read_lines(folder / "t", 8).size() == 2);
    CHECK(refusal([&] { (void)io::read_lines(folder / "t", 7); }) ==
          doctest::Contains("more than 7 bytes"));
}
