#include <castnet/io/npy.hpp>

#include "hostile.hpp"

using namespace castnet;
using namespace castnet::testing;

namespace {

// What np.save writes.
io::bytes npy(std::string const& dictionary, io::bytes const& elements) {
    std::string header = dictionary;
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    io::bytes content{
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<unsigned char>(header.size()), 0};
    content.insert(content.end(), header.begin(), header.end());
    content.insert(content.end(), elements.begin(), elements.end());
    return content;
}

io::npy_array read(io::bytes const& content) {
    io::memory_source in{content, "x.npy"};
    return io::read_npy(in);
}

} // namespace

TEST_CASE("arrays of every type and order of bytes") {
    auto const big = read(
        npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 1), }", {1, 2, 0xFF, 0xFE}));
    CHECK(big.type == io::dtype::i16);
    CHECK(big.shape == std::vector<size_t>{2, 1});
    CHECK(big.as<int>() == std::vector<int>{258, -2});
    auto const little =
        read(npy("{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }", {1, 2, 0, 0x80}));
    CHECK(little.as<double>() == std::vector<double>{2147484161.0});
    auto const truth =
        read(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", {1, 0, 1}));
    CHECK(truth.as<float>() == std::vector<float>{1, 0, 1});
    auto const half = read(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }",
                               {0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc, 0xff, 0xfb}));
    CHECK(half.type == io::dtype::f16);
    CHECK(half.as<float>() ==
          std::vector<float>{1, 0x1p-24F, -std::numeric_limits<float>::infinity(), -65504});
    auto const one = read(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (), }", {7}));
    CHECK(one.shape.empty());
    CHECK(one.as<int>() == std::vector<int>{7});
}

TEST_CASE("arrays in Fortran order are read row by row") {
    auto const of = [](std::string const& type, std::string const& shape, io::bytes elements) {
        return read(
            npy("{'descr': '" + type + "', 'fortran_order': True, 'shape': " + shape + ", }",
                elements));
    };
    CHECK(of("|u1", "(2, 3)", {1, 4, 2, 5, 3, 6}).as<int>() == std::vector<int>{1, 2, 3, 4, 5, 6});
    CHECK(of("|u1", "(2, 2, 3)", {0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}).as<int>() ==
          std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(of(">i2", "(2, 2)", {0, 1, 0, 3, 0, 2, 0, 4}).as<int>() == std::vector<int>{1, 2, 3, 4});
    CHECK(of("|u1", "(3,)", {1, 2, 3}).as<int>() == std::vector<int>{1, 2, 3});
    CHECK(of("<f4", "(0, 3)", {}).as<float>().empty());
}

TEST_CASE("numbers are read as other types as far as these have them") {
    auto const said = [](std::vector<double> const& values, auto as) {
        io::npy_array array{io::dtype::f64, {values.size()}, io::bytes(8 * values.size())};
        std::memcpy(array.data.data(), values.data(), array.data.size());
        return refusal_of<error>([&] { array.as<decltype(as)>(); });
    };
    CHECK(said({-2147483648.0, 2147483647.0, -0.0}, int{}) == "(accepted)");
    CHECK(said({255, -0.0, 0}, static_cast<unsigned char>(0)) == "(accepted)");
    CHECK(said({-1e308, 0, 9e18}, double{}) == "(accepted)");
    CHECK(said({1e300, 0.1}, bool{}) == "(accepted)");
    CHECK(said({0, 2147483648.0}, int{}) ==
          "castnet: npy_array::as: element 1 is 2.14748e+09, beyond the range of the type that it "
          "is read as");
    CHECK(said({3, 0.5}, static_cast<unsigned char>(0)) ==
          "castnet: npy_array::as: element 1 is 0.5, but is read as a whole number: take "
          "as<float>()");
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    for (double const beyond : {nan, infinity, -infinity, 1e300, -2147483649.0}) {
        CHECK(said({beyond}, int{}) != "(accepted)");
    }
    for (double const beyond : {nan, -1.0, 256.0}) {
        CHECK(said({beyond}, static_cast<unsigned char>(0)) != "(accepted)");
    }
    CHECK(said({9.3e18}, std::int64_t{}) != "(accepted)");
    CHECK(said({infinity, nan, 3e38}, float{}) == "(accepted)");
    CHECK(said({-1e39}, float{}) != "(accepted)");

    io::npy_array const whole{
        io::dtype::i64, {1}, {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
    CHECK(whole.as<signed char>() == std::vector<signed char>{-2});
    CHECK(whole.as<float>() == std::vector<float>{-2});
    CHECK(refusal_of<error>([&] { whole.as<std::uint64_t>(); }) ==
          "castnet: npy_array::as: element 0 is -2, beyond the range of the type that it is read "
          "as");
    io::npy_array const label{io::dtype::i64, {1}, {7, 0, 0, 0, 1, 0, 0, 0}};
    CHECK(label.as<std::int64_t>() == std::vector<std::int64_t>{4294967303});
    CHECK(refusal_of<error>([&] { label.as<int>(); }) != "(accepted)");
}

TEST_CASE("what is written is read again") {
    temporary_directory const folder;
    std::vector<double> const values{1.5, -2, 1e300, 0, 3, 4};
    std::vector<size_t> const shape{2, 3};
    io::write_npy<double>(folder / "a.npy", shape, values);
    auto const array = io::read_npy(folder / "a.npy");
    CHECK(array.shape == shape);
    CHECK(array.as<double>() == values);
    auto const content = io::read_file(folder / "a.npy");
    CHECK((content.size() - 48) % 64 == 0); // as NumPy aligns
    std::vector<unsigned char> const bytes{1, 2};
    io::write_npy<unsigned char>(folder / "b.npy", std::vector<size_t>{2}, bytes);
    CHECK(io::read_npy(folder / "b.npy").as<int>() == std::vector<int>{1, 2});
    CHECK(refusal_of<error>([&] { io::read_npy(folder / "a.npy").as<int>(); }) ==
          doctest::Contains((folder / "a.npy: element 0 is 1.5, but is read as a whole").c_str()));
    CHECK(refusal([&] {
              io::write_npy<double>(folder / "c.npy", shape, std::span{values}.first(5));
          }) == doctest::String(("castnet: " + (folder / "c.npy") +
                                 ": an array of shape (2, 3, ) cannot hold 5 numbers")
                                    .c_str()));
}

TEST_CASE("a shape whose size overflows is not written") {
    temporary_directory const folder;
    std::vector<size_t> const shape{size_t{1} << 32, size_t{1} << 32};
    CHECK_THROWS_AS(io::write_npy<double>(folder / "a.npy", shape, {}), file_error);
    CHECK(folder.names().empty());
}

TEST_CASE("a shape that the header cannot hold is not written") {
    temporary_directory const folder;
    std::vector<double> const value{1.5};
    io::write_npy<double>(folder / "a.npy", std::vector<size_t>(21'000, 1), value);
    CHECK(io::read_npy(folder / "a.npy").shape.size() == 21'000);
    CHECK(refusal([&] {
              io::write_npy<double>(folder / "b.npy", std::vector<size_t>(30'000, 1), value);
          }) == doctest::Contains("a NumPy header cannot hold a shape of 30000 axes"));
    CHECK_FALSE(io::exists(folder / "b.npy"));
}

TEST_CASE("what is wrong is said") {
    auto const said = [](std::string const& dictionary) {
        return refusal([&] { read(npy(dictionary, {0, 0, 0, 0})); });
    };
    CHECK(refusal([] { read(bytes_of("hello, world")); }) ==
          "castnet: x.npy: byte 0: this is not a .npy file of version 1, 2 or 3");
    CHECK(
        refusal([] { read(bytes_of("PK\3\4 and more")); }) ==
        "castnet: x.npy: byte 0: this is not a .npy file of version 1, 2 or 3, but a ZIP archive: "
        "read it with read_npz");
    CHECK(refusal([] { read(bytes_of("<!DOCTYPE html>")); }) ==
          doctest::Contains("of version 1, 2 or 3, but a web page: see what was downloaded"));
    CHECK(said("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }") ==
          "castnet: x.npy: found elements of NumPy's type \"<c8\", expected booleans, integers, or "
          "floats of 2, 4 or 8 bytes; convert them with array.astype('float32')");
    CHECK(
        said("{'descr': '\033f4', 'fortran_order': False, 'shape': (1,), }") ==
        "castnet: x.npy: found elements of NumPy's type \"\\x1bf4\", expected booleans, integers, "
        "or floats of 2, 4 or 8 bytes; convert them with array.astype('float32')");
    CHECK(said("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") != "(accepted)");
    CHECK(said("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }") ==
          "castnet: x.npy: the header is for more than 2^64 bytes; the file is damaged");
    CHECK(said("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }") ==
          "castnet: x.npy: holds elements of several fields, expected numbers; save each field, "
          "array['name'], as an array of its own");
    CHECK(said("{'descr': '<f4', 'shape': (1,), }") ==
          "castnet: x.npy: the NumPy header does not say 'fortran_order', expected it; the file is "
          "damaged");
}

TEST_CASE("any bytes are read or refused") {
    auto const valid = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }",
                           {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40});
    CHECK(read(valid).as<float>() == std::vector<float>{1, 2});
    check_truncations(valid, [](io::bytes const& content) { read(content); });
    check_mutations(valid, 6, 3000, [](io::bytes const& content) {
        auto const array = read(content);
        CHECK(array.as<double>().size() * io::size_of(array.type) == array.data.size());
    });
}
