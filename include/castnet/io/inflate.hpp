// Decompression of raw deflate data (RFC 1951), as members of ZIP archives hold it. Needs zlib.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/source.hpp>

#include <zlib.h>

namespace castnet::io {

// Decompresses bytes in memory, which must outlive this, only as far as it is read. Reading throws
// file_error where they are damaged, end early, or are followed by others.
class inflate_source : public source {
public:
    [[gnu::noinline]] inflate_source(std::span<unsigned char const> packed, std::string file)
        : source{std::move(file)}, packed_{packed} {
        constexpr int raw = -15; // zlib: largest window, neither header nor trailer
        if (inflateInit2(&stream_, raw) != Z_OK) {
            throw file_error(this->file(), "zlib cannot start: not enough memory");
        }
    }
    ~inflate_source() override { inflateEnd(&stream_); }

private:
    [[gnu::noinline]] size_t read_some(std::span<unsigned char> out) override {
        constexpr size_t most = size_t{1} << 30; // zlib's type is smaller than size_t
        auto const given = static_cast<uInt>(std::min(out.size(), most));
        stream_.next_out = out.data();
        stream_.avail_out = given;
        while (stream_.avail_out == given && !ended_) {
            if (stream_.avail_in == 0) {
                auto const some = packed_.first(std::min(packed_.size(), most));
                packed_ = packed_.subspan(some.size());
                stream_.next_in = const_cast<Bytef*>(some.data()); // zlib only reads there
                stream_.avail_in = static_cast<uInt>(some.size());
            }
            int const status = inflate(&stream_, Z_NO_FLUSH);
            ended_ = status == Z_STREAM_END;
            if (ended_ && (stream_.avail_in > 0 || !packed_.empty())) {
                throw file_error(file(), "found more bytes after the deflate data");
            }
            if (status != Z_OK && !ended_) {
                throw file_error(file(), {"damaged deflate data (zlib: ",
                                          stream_.msg != nullptr ? stream_.msg : zError(status),
                                          "); fetch the file again"});
            }
        }
        return given - stream_.avail_out;
    }

    std::span<unsigned char const> packed_; // what zlib has not been given
    z_stream stream_{};
    bool ended_ = false;
};

} // namespace castnet::io
