#include <castnet/io/csv.hpp>

#include "hostile.hpp"

#include <limits>

using namespace castnet;
using namespace castnet::testing;

TEST_CASE("a table is a line of names and a line per row") {
    temporary_directory const directory;
    auto const path = directory / "history.csv";
    std::vector<std::string> const names{"epoch", "loss"};
    io::write_csv(path, names, std::vector{1.0, 0.1, 2.0, 1e-30});
    CHECK(io::read_file(path) == bytes_of("epoch,loss\n1,0.1\n2,1e-30\n"));
    io::write_csv(path, names, {});
    CHECK(io::read_file(path) == bytes_of("epoch,loss\n"));
}

TEST_CASE("numbers read back as the same double") {
    temporary_directory const directory;
    auto const path = directory / "numbers.csv";
    std::vector<double> const values{1.0 / 3, -std::numeric_limits<double>::denorm_min(),
                                     std::numeric_limits<double>::max()};
    io::write_csv(path, std::vector<std::string>{"x"}, values);
    auto content = io::read_file(path);
    content.push_back(0);
    auto* at = reinterpret_cast<char*>(content.data()) + 2;
    for (double const value : values) {
        CHECK(std::strtod(at, &at) == value);
    }
    double const special[] = {std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
    io::write_csv(path, std::vector<std::string>{"x"}, special);
    CHECK(io::read_file(path) == bytes_of("x\ninf\nnan\n"));
}

TEST_CASE("names are quoted where they must be") {
    temporary_directory const directory;
    auto const path = directory / "names.csv";
    io::write_csv(path, std::vector<std::string>{"a b", "a,b", "a\"b", "a\nb", ""}, {});
    CHECK(io::read_file(path) == bytes_of("a b,\"a,b\",\"a\"\"b\",\"a\nb\",\n"));
}

TEST_CASE("an incomplete table is refused and nothing is written") {
    temporary_directory const directory;
    auto const path = directory / "bad.csv";
    CHECK(refusal([&] {
              io::write_csv(path, std::vector<std::string>{"a", "b"}, std::vector{1.0});
          }) == doctest::Contains("2 columns cannot hold 1 value"));
    CHECK_THROWS_AS(io::write_csv(path, {}, {}), file_error);
    CHECK(directory.names().empty());
}
