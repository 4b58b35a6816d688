#include <castnet/io/csv_table.hpp>

#include "hostile.hpp"

#include <cmath>
#include <limits>

using namespace castnet;
using namespace castnet::testing;

namespace {

io::csv_table table(std::string const& text, io::csv_options const& options = {}) {
    auto const content = bytes_of(text);
    io::memory_source in{content, "t.csv"};
    return {in, options};
}

} // namespace

TEST_CASE("columns are found by name and read as numbers or classes") {
    auto const t = table("size,kind,price\n1, cat,2.5\n-3e2,dog,+4\n 7 ,cat,0\n");
    CHECK(t.rows() == 3);
    CHECK(t.names() == std::vector<std::string>{"size", "kind", "price"});
    CHECK(t.numbers("size") == std::vector<double>{1, -300, 7});
    CHECK(t.matrix({"price", "size"}) == std::vector<float>{2.5F, 1, 4, -300, 0, 7});
    CHECK(t.classes("kind").names == std::vector<std::string>{" cat", "cat", "dog"});
    CHECK(t.classes("kind").labels == std::vector<int>{0, 2, 1});
    CHECK(t.names_without({"price"}) == std::vector<std::string>{"size", "kind"});
    CHECK(t.text(1, "kind") == "dog");
}

TEST_CASE("classes are numbered by value, or as in another table") {
    CHECK(table("k\n10\n2\n0\n2\n").classes("k").names == std::vector<std::string>{"0", "2", "10"});
    CHECK(table("k\n10\n2\nx\n").classes("k").names == std::vector<std::string>{"10", "2", "x"});
    CHECK(table("k\n1\n-10\n9\n-1\n10\n0\n1\n-9\n").classes("k").names ==
          std::vector<std::string>{"-10", "-9", "-1", "0", "1", "9", "10"});
    CHECK(table("k\n10\n007\n7\n007\n").classes("k").names ==
          std::vector<std::string>{"007", "7", "10"});
    CHECK(table("k\n10\n-\n9\n").classes("k").names == std::vector<std::string>{"-", "10", "9"});
    auto const kinds = table("k\ncat\ndog\nbird\n").classes("k");
    auto const tested = table("k\ndog\ncat\n").classes("k", kinds.names);
    CHECK(tested.names == kinds.names);
    CHECK(tested.labels == std::vector<int>{2, 1});
    CHECK(refusal([&] { table("k\ndog\n").classes("k", {"dog", "cat", "dog"}); }) ==
          "castnet: t.csv: column \"k\": the class \"dog\" was given twice, as numbers 0 and 2");
    CHECK(refusal([&] { table("k\ndog\ncow\n").classes("k", kinds.names); }) ==
          "castnet: t.csv: row 2, column \"k\": found \"cow\", which is none of the 3 classes");
}

TEST_CASE("quotes hold separators, quotes and ends of lines") {
    auto const t = table("\xEF\xBB\xBF\"a \"\"b\"\"\",c\r\n\"1\",\"x,\ny\"\r\n2,\r\n");
    CHECK(t.names() == std::vector<std::string>{"a \"b\"", "c"});
    CHECK(t.numbers("a \"b\"") == std::vector<double>{1, 2});
    CHECK(t.text(0, "c") == "x,\ny");
    CHECK(t.text(1, "c").empty());
}

TEST_CASE("other separators, no header, empty lines at the end") {
    auto const t = table("1;2\n3;4\n\n", {.separator = ';', .header = false});
    CHECK(t.numbers("1") == std::vector<double>{2, 4});
    CHECK(table("a\n1").numbers("a") == std::vector<double>{1});
    CHECK(table("").rows() == 0);
    io::csv_table copy = t;
    CHECK(copy.rows() == 2);
}

TEST_CASE("empty lines are no rows, as in pandas") {
    CHECK(table("a\n1\n\n2\n \t\n\n").numbers("a") == std::vector<double>{1, 2});
    CHECK(table("\n\na,b\r\n\r\n1,2\r\n  \r\n3,4\r\n").numbers("b") == std::vector<double>{2, 4});
    CHECK(table("a\n1\n\"\"\n2\n", {.missing_value = -1}).numbers("a") ==
          std::vector<double>{1, -1, 2});
    CHECK(table("1\n\n2\n\n", {.header = false}).rows() == 2);
}

TEST_CASE("a missing value is an error, or the number that the user says") {
    std::string const text = "a,b\n1,NA\n,2\n";
    CHECK(
        refusal([&] { table(text).numbers("b"); }) ==
        "castnet: t.csv: row 1, column \"b\": the cell is empty or says that its value is missing; "
        "set csv_options::missing_value, or leave the row out of the file");
    auto const t = table(text, {.missing_value = -1});
    CHECK(t.numbers("a") == std::vector<double>{1, -1});
    CHECK(t.numbers("b") == std::vector<double>{-1, 2});
    double const none = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(table(text, {.missing_value = none}).numbers("a")[1]));
    auto const spelt = table("a\nNAN\n-nan\nnan(1)\n", {.missing_value = -1});
    CHECK(spelt.numbers("a") == std::vector<double>{-1, -1, -1});
    CHECK_THROWS_AS(table("a\n-NaN\n").numbers("a"), file_error);
    CHECK(refusal([&] { table(text).classes("b"); }) ==
          "castnet: t.csv: row 1, column \"b\": the cell is missing, expected the name of a "
          "class; give those a class of their own with csv_options::missing_class");
    auto const kinds = table("k\ncat\nNA\n\"\"\n", {.missing_class = "unknown"}).classes("k");
    CHECK(kinds.names == std::vector<std::string>{"cat", "unknown"});
    CHECK(kinds.labels == std::vector<int>{0, 1, 1});
}

TEST_CASE("what is wrong is said with its place") {
    CHECK(refusal([] { table("a,b\n1,2\n1\n"); }) ==
          "castnet: t.csv: line 3: found 1 cell, expected 2 as in the first line");
    CHECK(refusal([] { table("a,b\n\"1,2\n"); }) ==
          "castnet: t.csv: line 2: a quote is not closed");
    CHECK(refusal([] { table("a,b\n\"1\"x,2\n"); }) ==
          "castnet: t.csv: line 2: found text after the quotes of a cell");
    CHECK(refusal([] { table("a,a\n1,2\n"); }) ==
          "castnet: t.csv: two columns have the name \"a\"; if the first line holds no names, set "
          "csv_options::header to false");
    CHECK(refusal([] { table("a,b\n1,2x\n").numbers("b"); }) ==
          "castnet: t.csv: row 1, column \"b\": found \"2x\", expected a number");
    CHECK(refusal([] { table("a,b\n1,?\n").numbers("b"); }) ==
          "castnet: t.csv: row 1, column \"b\": found \"?\", expected a number; classes() reads "
          "text, and csv_options::missing lists what stands for a missing value");
    CHECK(refusal([] { table("a,b\n1,2\n3,+-4\n").numbers("b"); }) ==
          "castnet: t.csv: row 2, column \"b\": found \"+-4\", expected a number");
    CHECK(refusal([] { table("a,b\n1,2\n-1e39,4\n").matrix({"b", "a"}); }) ==
          "castnet: t.csv: row 2, column \"a\": found -1e+39, beyond the range of float");
    CHECK(refusal([] { table("a\n1\n-1e400\n").numbers("a"); }) ==
          "castnet: t.csv: row 2, column \"a\": found \"-1e400\", beyond the range of double, "
          "5e-324 to 1.8e+308; write 0 or the bound, or leave the row out of the file");
    CHECK(refusal([] { table("a\n1e-400\n").numbers("a"); }) ==
          doctest::Contains("beyond the range of double"));
    CHECK(refusal([] { table("a;b\n1,5;2\n", {.separator = ';'}).numbers("a"); }) ==
          "castnet: t.csv: row 1, column \"a\": found \"1,5\", expected a number with '.' "
          "before its fraction, see csv_options::decimal, and no other mark");
    CHECK(refusal([] { table("a,b\n\"1\n2\",\"\n\"\n1\n"); }) ==
          "castnet: t.csv: line 5: found 1 cell, expected 2 as in the first line");
    CHECK(refusal([] {
              table(std::string("\xFF\xFE"
                                "a\0",
                                4));
          }) == "castnet: t.csv: the text is in UTF-16, expected UTF-8; save it as that");
    CHECK(refusal([] { table("a,b\n1,2\n").numbers("c"); }) ==
          "castnet: t.csv: there is no column \"c\"; there are \"a\", \"b\"");
    CHECK(refusal([] { table("").numbers("a"); }) ==
          "castnet: t.csv: there is no column \"a\"; the file is empty");
    CHECK(refusal([] { table("a\n1\n").text(1, "a"); }) ==
          "castnet: t.csv: there is no row 2, the table has 1");
}

TEST_CASE("numbers with a comma before their fraction") {
    io::csv_options const options{.separator = ';', .decimal = ','};
    CHECK(table("a;b\n1,5;-2,25e1\n3;+,5\n", options).matrix({"a", "b"}) ==
          std::vector<float>{1.5F, -22.5F, 3, 0.5F});
    CHECK(table("a,b\n\"1,5\",2\n", {.decimal = ','}).numbers("a") == std::vector<double>{1.5});
    for (std::string const wrong : {"1.5", "1.000,5", "1,5,5"}) {
        CHECK(refusal([&] { table("a\n" + wrong + "\n", options).numbers("a"); }) ==
              doctest::Contains("expected a number with ',' before its fraction, see "
                                "csv_options::decimal, and no other mark"));
    }
}

TEST_CASE("quotes behind a space are told from a missing one") {
    CHECK(refusal([] { table("a,b\n1, \"x,y\"\n"); }) ==
          "castnet: t.csv: line 2: found 3 cells, expected 2 as in the first line; a cell has a "
          "space before its quotes, where they do not count: remove it");
}

TEST_CASE("a file with another separator is told from a damaged one") {
    CHECK(refusal([] { table("a;b\n1;2\n").numbers("a"); }) ==
          "castnet: t.csv: there is no column \"a\"; there are \"a;b\"; if cells are separated by "
          "\";\", set csv_options::separator");
    CHECK(refusal([] { table("a\tb\n1,5\t2\n"); }) ==
          "castnet: t.csv: line 2: found 2 cells, expected 1 as in the first line; if cells are "
          "separated by tabs, set csv_options::separator");
    CHECK(
        refusal([] { table("\"a\";\"b\"\n1;2\n"); }) ==
        "castnet: t.csv: line 1: found text after the quotes of a cell; if cells are separated by "
        "\";\", set csv_options::separator");
    CHECK(refusal([] { table("1;2\n", {.header = false}).numbers("0"); }) ==
          "castnet: t.csv: row 1, column \"0\": found \"1;2\", expected a number; if cells are "
          "separated by \";\", set csv_options::separator");
    CHECK(refusal([] { table("a,b\n1,2\n", {.separator = ';'}).numbers("b"); }) ==
          doctest::Contains("if cells are separated by \",\""));
    CHECK(
        refusal([] { table("a\n1\n", {.separator = '"'}); }) ==
        "castnet: t.csv: csv_options::separator is a quote or an end of a line, expected the mark "
        "between two cells");
}

TEST_CASE("cells are shown without control characters and not endless") {
    auto const found = [](std::string const& cell) {
        return refusal([&] { table("\x1b[2J\n" + cell + "\n").numbers("\x1b[2J"); });
    };
    CHECK(found("\a7") ==
          "castnet: t.csv: row 1, column \"\\x1b[2J\": found \"\\x077\", expected a "
          "number");
    CHECK(found(std::string(100'000, 'c')).size() < 300);
    CHECK(refusal([] { table("\x1b[2J\n1\n").numbers("\r"); }) ==
          "castnet: t.csv: there is no column \"\\x0d\"; there are \"\\x1b[2J\"");
}

TEST_CASE("names and cells are shown in any language") {
    CHECK(refusal([] { table("Größe,гость\n1,2\n").numbers("温度"); }) ==
          "castnet: t.csv: there is no column \"温度\"; there are \"Größe\", \"гость\"");
    auto const found = [](std::string const& cell) {
        return refusal([&] { table("a\n" + cell + "\n").numbers("a"); });
    };
    CHECK(found("né\xe9") == doctest::Contains("found \"né\\xe9\", expected a number"));
    CHECK(found(std::string(99, 'c') + "温") == doctest::Contains("ccc\"..."));
}

TEST_CASE("a text that is longer than allowed is refused") {
    CHECK(table("a\n1\n", {.most_bytes = 4}).rows() == 1);
    CHECK(refusal([] { table("a\n1\n", {.most_bytes = 3}); }) ==
          "castnet: t.csv: holds more than 3 bytes");
}

TEST_CASE("any bytes are read or refused") {
    auto const valid = bytes_of("a,\"b\"\"c\",d\n1,\"2\",3\n4,5,\"x,y\"\n");
    check_mutations(valid, 5, 2000, [](io::bytes const& content) {
        io::memory_source in{content, "t.csv"};
        io::csv_table const t{in};
        for (auto const& name : t.names()) {
            for (size_t row = 0; row < t.rows(); ++row) {
                t.text(row, name);
            }
        }
    });
}
