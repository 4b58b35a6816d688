#include <castnet/io/compressed.hpp>

#include "hostile.hpp"

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

// The beginning of a compressed file.
io::bytes const cut_short{0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                          0x4b, 0x4e, 0x2c, 0x2e, 0xc9, 0x4b, 0x2d, 0x01, 0x00};

io::bytes content_of(std::string const& path) {
    return io::read_compressed(path,
                               [](io::source& in) { return in.read_up_to(io::source::unknown); });
}

} // namespace

TEST_CASE("a file that is not compressed is read as it is, whatever its name") {
    temporary_directory const directory;
    CHECK(content_of(directory.put("a.gz", {1, 2, 3})) == io::bytes{1, 2, 3});
    CHECK(content_of(directory / "a") == io::bytes{1, 2, 3}); // only a.gz is there
    directory.put("a", {0x1f});
    CHECK(content_of(directory / "a") == io::bytes{0x1f});
    CHECK(refusal([&] { content_of(directory / "b"); }) == Contains("/b: cannot open"));
}

#ifndef CASTNET_HAS_ZLIB

TEST_CASE("without zlib a compressed file says what to do") {
    temporary_directory const directory;
    auto const path = directory.put("a", cut_short);
    CHECK(refusal([&] { content_of(path); }) ==
          ("castnet: " + path +
           ": the file is gzip-compressed and this program was built without zlib: compile with "
           "-DCASTNET_HAS_ZLIB=1 and link with -lz (in CMake, link the target castnet::zlib), or "
           "gunzip the file")
              .c_str());
}

#else

namespace {

io::bytes gzip(io::bytes content) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    io::bytes packed(deflateBound(&stream, static_cast<uLong>(content.size())) + 100);
    stream.next_in = content.data();
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

// Reads at most `most` bytes of what was compressed.
io::bytes unpack(io::bytes const& packed, size_t most = io::source::unknown) {
    io::memory_source file{packed, "data.gz"};
    io::gunzip_source in{file};
    return in.read_up_to(most);
}

io::bytes joined(io::bytes a, io::bytes const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

io::bytes noise(size_t size) {
    io::bytes content(size);
    for (size_t i = 0; i < size; ++i) {
        content[i] = static_cast<unsigned char>(
            philox({static_cast<std::uint32_t>(i), 0, 0, 0}, key_of(1)).x0);
    }
    return content;
}

} // namespace

TEST_CASE("a compressed file is recognised by its content") {
    temporary_directory const directory;
    auto const packed = gzip(bytes_of("castnet"));
    CHECK(content_of(directory.put("plain.name", packed)) == bytes_of("castnet"));
    directory.put("b.gz", packed);
    CHECK(content_of(directory / "b") == bytes_of("castnet"));
    directory.put("bad.gz", cut_short);
    CHECK(refusal([&] { content_of(directory / "bad"); }) == Contains("/bad.gz: byte "));
}

TEST_CASE("gunzip gives back what was compressed, in any size") {
    for (size_t const size : {0U, 1U, 65535U, 65536U, 65537U, 300'000U}) {
        CHECK(unpack(gzip(noise(size))) == noise(size));
        CHECK(unpack(gzip(io::bytes(size, 7))) == io::bytes(size, 7));
    }
}

TEST_CASE("gunzip reads all members and skips zero padding") {
    auto const two = joined(gzip(bytes_of("cast")), gzip(bytes_of("net")));
    CHECK(unpack(two) == bytes_of("castnet"));
    CHECK(unpack(joined(two, io::bytes(512))) == bytes_of("castnet"));
}

TEST_CASE("a damaged gzip file is refused") {
    auto const message = [](io::bytes const& packed) { return refusal([&] { unpack(packed); }); };
    auto const valid = gzip(bytes_of("castnet castnet castnet"));
    CHECK(message({}) == Contains("byte 0: the gzip data ends early"));
    CHECK(message(bytes_of("not compressed")) == Contains("incorrect header check"));
    CHECK(message(joined(valid, bytes_of("garbage"))) == Contains("incorrect header check"));
    CHECK(message(joined(valid, {0x1f})) == Contains("ends early"));
    auto wrong_crc = valid;
    wrong_crc[valid.size() - 8] ^= 1;
    CHECK(message(wrong_crc) == Contains("incorrect data check"));
    auto wrong_length = valid;
    wrong_length[valid.size() - 1] ^= 1;
    CHECK(message(wrong_length) == Contains("incorrect length check"));
}

TEST_CASE("gunzip unpacks what is read and no more") {
    auto bomb = gzip(io::bytes(300'000'000));
    CHECK(bomb.size() < 300'000);
    bomb.back() ^= 1; // the last byte is not looked at
    io::memory_source file{bomb, "bomb.gz"};
    io::gunzip_source in{file};
    CHECK(in.read_up_to(1'000'000).size() == 1'000'000);
    CHECK(in.position() == 1'000'000);
    CHECK(file.position() <= 65536);
    CHECK(refusal([&] { in.check_end("the data"); }) ==
          "castnet: bomb.gz: byte 1000000: found more bytes after the data; the file is damaged "
          "or not of this format");
}

TEST_CASE("gunzip reads in pieces of any size") {
    auto const packed = joined(gzip(noise(1000)), joined(gzip({}), gzip(noise(10))));
    io::memory_source file{packed, "data.gz"};
    io::gunzip_source in{file};
    io::bytes all;
    for (size_t size = 1; all.size() < 1010; size = size * 3 % 101) {
        auto const piece = in.read_up_to(size);
        all.insert(all.end(), piece.begin(), piece.end());
    }
    CHECK(all == joined(noise(1000), noise(10)));
    in.check_end("the content");
}

TEST_CASE("gzip: every truncation is refused") {
    check_truncations(gzip(bytes_of("castnet")), [](io::bytes const& cut) { unpack(cut); });
}

TEST_CASE("gzip: a mutated file loads or is refused") {
    auto const refused = check_mutations(gzip(noise(200)), 2, 5000,
                                         [](io::bytes const& damaged) { unpack(damaged); });
    CHECK(refused > 4000);
}

#endif
