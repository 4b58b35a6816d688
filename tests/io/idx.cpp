#include <castnet/io/idx.hpp>

#include "hostile.hpp"

#include <cstring>

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

// Header and data of an IDX file.
io::bytes idx(unsigned char type, std::vector<std::uint32_t> const& extents,
              io::bytes const& data) {
    io::bytes file{0, 0, type, static_cast<unsigned char>(extents.size())};
    for (auto const extent : extents) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            file.push_back(static_cast<unsigned char>(extent >> shift));
        }
    }
    file.insert(file.end(), data.begin(), data.end());
    return file;
}

io::idx_array parse(io::bytes const& content) {
    io::memory_source in{content, "images"};
    return io::read_idx(in);
}

doctest::String parse_refusal(io::bytes const& content) {
    return refusal([&] { parse(content); });
}

template <class T>
std::vector<T> values(io::idx_array const& array) {
    std::vector<T> out(array.data.size() / sizeof(T));
    std::memcpy(out.data(), array.data.data(), array.data.size());
    return out;
}

io::bytes const small = idx(8, {2, 3}, {1, 2, 3, 4, 5, 6});

} // namespace

TEST_CASE("an IDX file holds extents and elements of any type") {
    auto const array = parse(small);
    CHECK(array.type == io::dtype::u8);
    CHECK(array.extents == std::vector<size_t>{2, 3});
    CHECK(array.data == io::bytes{1, 2, 3, 4, 5, 6});

    CHECK(values<std::int8_t>(parse(idx(9, {1}, {0xfe}))) == std::vector<std::int8_t>{-2});
    CHECK(values<std::int16_t>(parse(idx(11, {2}, {0xff, 0xfe, 1, 0}))) ==
          std::vector<std::int16_t>{-2, 256});
    CHECK(values<std::int32_t>(parse(idx(12, {1}, {0, 1, 0, 2}))) ==
          std::vector<std::int32_t>{65538});
    CHECK(values<float>(parse(idx(13, {1, 2}, {0x40, 0x20, 0, 0, 0xbf, 0x80, 0, 0}))) ==
          std::vector<float>{2.5F, -1.0F});
    CHECK(values<double>(parse(idx(14, {1}, {0x40, 4, 0, 0, 0, 0, 0, 0}))) ==
          std::vector<double>{2.5});
    CHECK(parse(idx(13, {1}, {0, 0, 0, 0})).type == io::dtype::f32);
}

TEST_CASE("an IDX file may have no axes or no elements") {
    CHECK(parse(idx(8, {}, {7})).data == io::bytes{7});
    CHECK(parse(idx(14, {3, 0}, {})).data.empty());
}

TEST_CASE("a damaged IDX file is refused with the byte and what was expected") {
    struct {
        io::bytes content;
        char const* message;
    } const table[] = {
        {{}, "byte 0: the IDX header needs 4 bytes, found 0"},
        {bytes_of("PK\3\4"), "byte 0: found 80, 75, expected two zero bytes"},
        {idx(10, {1}, {1}), "byte 2: found IDX element type 10, expected 8 (U8)"},
        {idx(0, {1}, {1}), "byte 2: found IDX element type 0"},
        {{0, 0, 8, 3, 0, 0, 0, 1}, "byte 8: an extent of the IDX header needs 4 bytes, found 0"},
        {{0, 0, 8, 255}, "an extent of the IDX header needs 4 bytes"},
        {idx(8, {2, 3}, {1}),
         "byte 12: the data (2 x 3 elements of type U8) needs 6 bytes, found 1; the file is cut"},
        {idx(8, {2}, {1, 2, 3}),
         "byte 10: found more bytes after the data (2 elements of type U8)"},
        {idx(8, {0xffffffff, 0xffffffff, 0xffffffff}, {1}),
         "byte 4: found a header for more than 2^64 bytes: the data (4294967295 x 4294967295 x"},
        {idx(14, {0x80000000, 0x40000000}, {}), "(2147483648 x 1073741824 elements of type F64)"},
        {idx(8, {0xffffffff}, {1}), "needs 4294967295 bytes, found 1"},
        {idx(8, {}, {}), "the data (1 element of type U8) needs 1 byte, found 0"},
        {idx(8, std::vector<std::uint32_t>(200, 2), {}), "2 x 2 x 2 x ... elements"},
    };
    for (auto const& row : table) {
        CHECK(parse_refusal(row.content) == Contains(row.message));
        CHECK(parse_refusal(row.content) == Contains("castnet: images: "));
    }
}

TEST_CASE("IDX: every truncation is refused") {
    check_truncations(small, parse);
}

TEST_CASE("IDX: a mutated file loads or is refused") {
    auto const valid = idx(13, {1, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
    auto const refused = check_mutations(valid, 1, 5000, [](io::bytes const& damaged) {
        auto const array = parse(damaged);
        size_t expected = 0;
        CHECK(io::byte_count(array.type, array.extents, expected));
        CHECK(array.data.size() == expected);
    });
    CHECK(refused > 1000);
    CHECK(refused < 5000);
}

TEST_CASE("read_idx reads the file of this name") {
    temporary_directory const directory;
    CHECK(io::read_idx(directory.put("labels", small)).extents.size() == 2);
    CHECK(refusal([&] { io::read_idx(directory / "missing"); }) == Contains("No such file"));
    CHECK(refusal([&] { io::read_idx(directory.put("empty", {})); }) == Contains("found 0"));
}
