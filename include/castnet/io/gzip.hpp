// Decompression of gzip files (RFC 1952). Needs zlib.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/source.hpp>

#include <zlib.h>

namespace castnet::io {

// The decompressed content of `compressed`: all its members, one after the other; zero padding
// after the last is skipped. Decompresses only as far as it is read, so a file of 4 MB that expands
// to 4 GB does no harm. Reading throws file_error for a truncated or damaged file and for other
// bytes after the last member. `compressed` must outlive this.
class gunzip_source : public source {
public:
    [[gnu::noinline]] explicit gunzip_source(source& compressed)
        : source{compressed.file()}, compressed_{compressed} {
        constexpr int gzip_only = 15 + 16; // zlib: largest window, gzip header and trailer
        if (inflateInit2(&stream_, gzip_only) != Z_OK) {
            throw file_error(file(), "zlib cannot start: not enough memory");
        }
    }
    ~gunzip_source() override { inflateEnd(&stream_); }

private:
    [[gnu::noinline]] size_t read_some(std::span<unsigned char> out) override {
        auto const given = static_cast<uInt>(std::min(out.size(), size_t{1} << 30)); // zlib's type
        stream_.next_out = out.data();
        stream_.avail_out = given;
        while (stream_.avail_out == given && !ended()) {
            int const status = inflate(&stream_, Z_NO_FLUSH);
            within_member_ = status != Z_STREAM_END;
            if (status == Z_STREAM_END) {
                inflateReset(&stream_);
            } else if (status == Z_BUF_ERROR) {
                fail("the gzip data ends early; the file is cut short, fetch it again");
            } else if (status != Z_OK) {
                fail(string_of({"damaged gzip data (zlib: ",
                                stream_.msg != nullptr ? stream_.msg : zError(status),
                                "); fetch the file again"}));
            }
        }
        return given - stream_.avail_out;
    }

    // True after the last member and the padding.
    bool ended() {
        for (;;) {
            if (stream_.avail_in == 0) {
                stream_.next_in = chunk_;
                stream_.avail_in = static_cast<uInt>(compressed_.read(chunk_));
            }
            bool const padding = !within_member_ && stream_.avail_in > 0 && *stream_.next_in == 0;
            if (!padding) {
                return !within_member_ && stream_.avail_in == 0;
            }
            ++stream_.next_in;
            --stream_.avail_in;
        }
    }

    [[noreturn, gnu::cold]] void fail(std::string const& what) const {
        throw file_error(file(), {"byte ", compressed_.position() - stream_.avail_in, ": ", what});
    }

    source& compressed_;
    z_stream stream_{};
    unsigned char chunk_[65536];
    bool within_member_ = true; // at the start, since a file has one at least
};

} // namespace castnet::io
