// Archives that NumPy 2.4 wrote are the seeds of the fuzz target (tests/fuzz/seeds/npz).
#include <castnet/io/npz.hpp>

#include "hostile.hpp"

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

std::string archive(std::string const& name) {
    return std::string{CASTNET_TEST_DATA} + "/../fuzz/seeds/npz/" + name;
}

doctest::String refusal_of(std::string const& file, std::string const& array) {
    return refusal([&] { (void)io::read_npz(archive(file)).at(array); });
}

} // namespace

TEST_CASE("arrays come by name, from archives with and without ZIP64") {
    auto const file = io::read_npz(archive("stored"));
    CHECK(file.names() == std::vector<std::string>{"x", "y"});
    CHECK(file.at("x").shape == std::vector<size_t>{2, 3});
    CHECK(file.at("x").as<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(file.at("y").as<int>() == std::vector<int>{1, 2, 250});
    auto const numbers = io::read_npz(archive("numbers"));
    CHECK(numbers.at("arr_0").as<int>() == std::vector<int>{7});
    CHECK(numbers.at("arr_1").as<int>() == std::vector<int>{1, 0});
    CHECK(io::read_npz(archive("none")).names().empty());
    for (std::string const name : {"other_members", "zip64"}) {
        auto const one = io::read_npz(archive(name));
        CHECK(one.names() == std::vector<std::string>{"b"});
        CHECK(one.at("b").as<int>() == std::vector<int>{1, 2, 250});
    }
}

TEST_CASE("what is no array of the archive is refused") {
    CHECK(refusal_of("stored", "z") == Contains("there is no array \"z\"; there are \"x\", \"y\""));
    CHECK(refusal_of("none", "z") == Contains("there are none"));
    CHECK(refusal_of("wrong_crc", "x") == Contains("array \"x\": its checksum is another one"));
    CHECK(refusal_of("bzip2", "b") == Contains("compressed by method 12"));
    CHECK(refusal_of("lzma", "b") == Contains("compressed by method 14"));
    CHECK(refusal_of("overlapping", "b") == Contains("members lie over each other"));
    CHECK(refusal_of("cut", "x") == Contains("not a ZIP archive, or the file is cut short"));
    CHECK(refusal([&] { (void)io::read_npz(archive("stored")).at("x", 100); }) ==
          Contains("takes 152 bytes, expected at most 100"));
}

TEST_CASE("archives that are cut short are refused, and damaged ones never crash") {
    auto const read = [](io::bytes const& content) {
        io::memory_source in{content, "x.npz"};
        io::npz_file const file{in};
        for (auto const& name : file.names()) {
            (void)file.at(name);
        }
    };
    auto const valid = io::read_file(archive("stored"));
    read(valid);
    check_truncations(valid, read);
    CHECK(check_mutations(valid, 5, 3000, read) > 1000);
}

#ifdef CASTNET_HAS_ZLIB

TEST_CASE("compressed arrays are unpacked, to the size that the directory says") {
    auto const file = io::read_npz(archive("deflated"));
    CHECK(file.at("x").as<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(file.at("y").as<double>() == std::vector<double>(2000));
    CHECK(refusal_of("wrong_size", "y") == Contains("bytes, but the directory says 77"));
}

#endif
