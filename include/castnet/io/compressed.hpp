// Reading files that may be gzip-compressed. Decompression needs zlib: link castnet::zlib, or
// define CASTNET_HAS_ZLIB for the whole program and link zlib.
#pragma once

#include <castnet/io/file.hpp>

#ifdef CASTNET_HAS_ZLIB
#include <castnet/io/gzip.hpp>
#endif

namespace castnet::io {

// The content of `path`, or of `path`.gz where only that exists; decompressed when its first two
// bytes are those of gzip, whatever its name. Throws file_error.
[[gnu::cold]] inline bytes read_compressed(std::string const& path) {
    auto const zipped = path + ".gz";
    auto const& found = !exists(path) && exists(zipped) ? zipped : path;
    auto content = read_file(found);
    if (content.size() < 2 || content[0] != 0x1f || content[1] != 0x8b) {
        return content;
    }
#ifdef CASTNET_HAS_ZLIB
    return gunzip(content, found);
#else
    throw file_error(found, "the file is gzip-compressed and this program was built without zlib: "
                            "link the CMake target castnet::zlib, or gunzip the file");
#endif
}

} // namespace castnet::io
