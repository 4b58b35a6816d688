#include <castnet/io/event_file.hpp>

#include "hostile.hpp"

#include <csignal>
#include <limits>
#include <numeric>
#include <sys/resource.h>

using namespace castnet;
using namespace castnet::testing;

namespace {

// A little-endian number of the file.
template <class T>
T number_at(io::bytes const& content, size_t at) {
    T value{};
    REQUIRE(at + sizeof value <= content.size());
    std::memcpy(&value, content.data() + at, sizeof value);
    return value;
}

// The records of a file, which must end with the last one.
std::vector<io::bytes> records_of(io::event_file const& file) {
    auto const content = io::read_file(file.path());
    std::vector<io::bytes> records;
    for (size_t at = 0; at < content.size();) {
        auto const size = static_cast<size_t>(number_at<std::uint64_t>(content, at));
        REQUIRE(size < content.size());
        auto const begin = content.begin() + static_cast<std::ptrdiff_t>(at + 12);
        REQUIRE(at + size + 16 <= content.size());
        records.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
        at += size + 16;
    }
    return records;
}

// A repeated field of 30 doubles in a record.
std::vector<double> doubles_in(io::bytes const& record, unsigned char field) {
    unsigned char const key[] = {static_cast<unsigned char>(field << 3 | 2), 0xF0, 0x01};
    auto const found =
        std::search(record.begin(), record.end(), std::begin(key), std::end(key)) - record.begin();
    std::vector<double> values;
    for (size_t i = 0; i < 30; ++i) {
        values.push_back(number_at<double>(record, static_cast<size_t>(found) + 3 + i * 8));
    }
    return values;
}

struct bins {
    std::vector<double> limits, counts;
};
bins bins_of(std::vector<double> const& values) {
    temporary_directory const folder;
    io::event_file file{folder.path};
    file.add_histogram("values", 1, values);
    auto const records = records_of(file);
    REQUIRE(records.size() == 2);
    return {doubles_in(records[1], 6), doubles_in(records[1], 7)};
}

} // namespace

TEST_CASE("a histogram has bins of equal width") {
    auto const few = bins_of({0, 1, 1, 29.5, 30});
    CHECK(few.limits.front() == doctest::Approx(1));
    CHECK(few.limits.back() == 30);
    CHECK(few.counts[0] == 1);
    CHECK(few.counts[1] == 2);
    CHECK(few.counts[29] == 2);
    auto const one = bins_of({4, 4});
    CHECK(one.limits.back() == 5);
    CHECK(one.counts[0] == 2);
}

TEST_CASE("a histogram takes any finite numbers") {
    constexpr double most = std::numeric_limits<double>::max();
    auto const wide = bins_of({-most, 0, most});
    CHECK(wide.limits.back() == most);
    CHECK(wide.counts[0] == 1);
    CHECK(wide.counts[15] == 1);
    CHECK(wide.counts[29] == 1);
    constexpr double least = std::numeric_limits<double>::denorm_min();
    for (auto const& values : {std::vector{0, least}, {0, 7 * least}, {most, most}}) {
        auto const counts = bins_of(values).counts;
        CHECK(std::accumulate(counts.begin(), counts.end(), 0.0) == 2);
    }
}

TEST_CASE("the folder of a file is made with those that it lies in") {
    temporary_directory const folder;
    std::string const inner = folder.path + "//runs/first/";
    io::event_file const file{inner}, another{inner};
    CHECK(file.path() != another.path());
    CHECK(io::read_file(file.path()).size() == io::read_file(another.path()).size());
    CHECK(refusal([&] { io::event_file const below{file.path() + "/run"}; }) ==
          doctest::Contains("cannot make the folder: File exists"));
    CHECK(refusal([] { io::event_file const nowhere{""}; }) ==
          doctest::Contains("the name of the file is empty"));
}

TEST_CASE("a file that is removed while it is written is an error") {
    temporary_directory const folder;
    io::event_file file{folder.path};
    file.add_scalar("loss", 1, 0.5);
    ::unlink(file.path().c_str());
    CHECK(refusal([&] { file.add_scalar("loss", 2, 0.25); }) ==
          doctest::Contains("was removed while it is written"));
}

TEST_CASE("a record that a full disk refuses leaves no part of itself") {
    temporary_directory const folder;
    io::event_file file{folder.path};
    file.add_scalar("loss", 1, 0.5);
    REQUIRE(records_of(file).size() == 2);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit const small{io::read_file(file.path()).size() + 20, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    auto const message = refusal([&] { file.add_scalar("loss", 2, 0.25); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK(message == doctest::Contains("cannot write the file: File too large"));
    CHECK(records_of(file).size() == 2);
    file.add_scalar("loss", 3, 0.125);
    CHECK(records_of(file).size() == 3);
}

TEST_CASE("what a program prints after closing its standard streams comes into no file") {
    temporary_directory const folder;
    auto const there = folder.put("there", {1, 2, 3});
    bool closed = true;
    {
        closed_standard_streams const without;
        io::event_file const events{folder.path};
        closed = closed && without.are_closed();
        io::atomic_file const written{folder / "written"};
        closed = closed && without.are_closed();
        io::file_source const read{there};
        closed = closed && without.are_closed();
    }
    CHECK(closed);
}

TEST_CASE(
    "names and texts that are not UTF-8 are refused, since nothing after them would be read") {
    temporary_directory const folder;
    io::event_file file{folder.path};
    std::string const latin = "gr\xFC\xDF";
    std::vector<double> const values{1};
    CHECK(refusal([&] { file.add_scalar(latin, 1, 2); }) ==
          doctest::Contains("a name or text is \"gr\\xfc\\xdf\", expected UTF-8"));
    CHECK_THROWS_AS(file.add_histogram(latin, 1, std::span{values}), file_error);
    CHECK_THROWS_AS(file.add_image(latin, 1, 1, 1, {}), file_error);
    CHECK_THROWS_AS(file.add_text(latin, 1, "a"), file_error);
    CHECK_THROWS_AS(file.add_text("a", 1, latin), file_error);
    CHECK_THROWS_AS(file.add_graph(std::vector<io::event_graph_node>{{latin, "a"}}), file_error);
    CHECK_THROWS_AS(file.add_graph(std::vector<io::event_graph_node>{{"a", "b", {latin}}}),
                    file_error);
    CHECK_THROWS_AS(file.add_hyperparameters(std::vector<io::event_setting>{{latin, 1}}),
                    file_error);
    CHECK(records_of(file).size() == 1);
    file.add_scalar("grün", 1, 2);
    CHECK(records_of(file).size() == 2);
}
