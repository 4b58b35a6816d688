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
    auto const one = read(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (), }", {7}));
    CHECK(one.shape.empty());
    CHECK(one.as<int>() == std::vector<int>{7});
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
    CHECK(refusal([&] {
              io::write_npy<double>(folder / "c.npy", shape, std::span{values}.first(5));
          }) == doctest::String(("castnet: " + (folder / "c.npy") +
                                 ": an array of shape (2, 3, ) cannot hold 5 numbers")
                                    .c_str()));
}

TEST_CASE("what is wrong is said") {
    auto const said = [](std::string const& dictionary) {
        return refusal([&] { read(npy(dictionary, {0, 0, 0, 0})); });
    };
    CHECK(refusal([] { read(bytes_of("hello, world")); }) ==
          "castnet: x.npy: byte 0: this is not a .npy file of version 1, 2 or 3");
    CHECK(said("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }") ==
          "castnet: x.npy: found elements of NumPy's type '<f2', expected booleans, integers, or "
          "floats of 4 or 8 bytes; convert them with array.astype('float32')");
    CHECK(said("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }") ==
          "castnet: x.npy: the array is in Fortran order, expected rows one after the other; save "
          "np.ascontiguousarray(array)");
    CHECK(said("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") != "(accepted)");
    CHECK(said("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }") ==
          "castnet: x.npy: the header is for more than 2^64 bytes; the file is damaged");
    CHECK(said("{'descr': '<f4', 'shape': (1,), }") ==
          "castnet: x.npy: the NumPy header does not say 'fortran_order', expected it; the file is "
          "damaged");
}

TEST_CASE("any bytes are read or refused") {
    auto const valid = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }",
                           {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40});
    CHECK(read(valid).as<float>() == std::vector<float>{1, 2});
    check_truncations(valid, [](io::bytes const& content) { read(content); });
    check_mutations(valid, 6, 3000, [](io::bytes const& content) { read(content).as<float>(); });
}
