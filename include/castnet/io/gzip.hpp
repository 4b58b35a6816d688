// Decompression of gzip files (RFC 1952). The only header that needs zlib.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/file.hpp>

#include <algorithm>
#include <zlib.h>

namespace castnet::io {

// More decompressed bytes than this are refused unless the caller allows them: a gzip file of
// 4 MB may hold 4 GB.
inline constexpr size_t gunzip_limit = size_t{1} << 32;

// The decompressed content of `compressed`, which came from `file`: all its members, one after
// the other; zero padding after the last is skipped. Memory grows with what was decompressed,
// never with what the file says. Throws file_error for a truncated or damaged file, other bytes
// after the last member, and more than `limit` bytes.
inline bytes gunzip(std::span<unsigned char const> compressed, std::string const& file,
                    size_t limit = gunzip_limit) {
    struct inflater : z_stream {
        inflater() : z_stream{} {}
        inflater(inflater const&) = delete;
        inflater& operator=(inflater const&) = delete;
        ~inflater() { inflateEnd(this); }
    } stream;
    constexpr int gzip_only = 15 + 16; // zlib: largest window, gzip header and trailer
    if (inflateInit2(&stream, gzip_only) != Z_OK) {
        throw file_error(file, "zlib cannot start: not enough memory");
    }

    bytes content;
    unsigned char chunk[65536];
    size_t position = 0;
    auto const fail = [&](std::string const& what) {
        throw file_error(file, {"byte ", position, ": ", what});
    };
    for (;;) {
        constexpr size_t longest_input = size_t{1} << 30; // zlib counts in unsigned int
        auto const given = std::min(compressed.size() - position, longest_input);
        stream.next_in = const_cast<unsigned char*>(compressed.data() + position); // only read
        stream.avail_in = static_cast<uInt>(given);
        stream.next_out = chunk;
        stream.avail_out = sizeof chunk;
        int const status = inflate(&stream, Z_NO_FLUSH);
        position += given - stream.avail_in;
        auto const made = sizeof chunk - stream.avail_out;
        if (made > limit - content.size()) {
            fail(string_of({"more than ", limit,
                            " decompressed bytes; gunzip the file yourself if it should be that "
                            "large"}));
        }
        content.insert(content.end(), chunk, chunk + made);
        if (status == Z_STREAM_END) {
            while (position < compressed.size() && compressed[position] == 0) {
                ++position;
            }
            if (position == compressed.size()) {
                return content;
            }
            if (inflateReset(&stream) != Z_OK) {
                fail("zlib cannot go on with the next member");
            }
        } else if (status == Z_BUF_ERROR) {
            fail("the gzip data ends early; the file is cut short, fetch it again");
        } else if (status != Z_OK) {
            fail(string_of(
                {"damaged gzip data (zlib: ", stream.msg != nullptr ? stream.msg : zError(status),
                 "); fetch the file again"}));
        }
    }
}

} // namespace castnet::io
