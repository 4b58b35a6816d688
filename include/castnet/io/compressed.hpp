// Reader of files that may be gzip-compressed. Decompression needs zlib: link castnet::zlib, or
// define CASTNET_HAS_ZLIB and link zlib.
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/io/file.hpp>

#ifdef CASTNET_HAS_ZLIB
#include <castnet/io/gzip.hpp>
#endif

namespace castnet::io::inline CASTNET_GZIP_SUPPORT {

// `path`, or `path`.gz if only that exists.
[[gnu::noinline]] inline std::string plain_or_gz(std::string const& path) {
    auto zipped = path + ".gz";
    return !exists(path) && exists(zipped) ? zipped : path;
}

// The result of read(source&) for the file plain_or_gz(path), or for its decompressed content if
// the file begins with gzip's magic number, whatever its name. Throws file_error; see file_source
// and gunzip_source.
template <class Read>
[[gnu::noinline]] auto read_compressed(std::string const& path, Read read) {
    auto const found = plain_or_gz(path);
    unsigned char start[2] = {};
    file_source{found}.read(start);
    file_source file{found};
    if (start[0] != 0x1f || start[1] != 0x8b) {
        return read(file);
    }
#ifdef CASTNET_HAS_ZLIB
    gunzip_source unpacked{file};
    return read(unpacked);
#else
    throw file_error(found, "the file is gzip-compressed and this program was built without zlib: "
                            "compile with -DCASTNET_HAS_ZLIB=1 and link with -lz (in CMake, link "
                            "the target castnet::zlib), or gunzip the file");
#endif
}

} // namespace castnet::io::inline CASTNET_GZIP_SUPPORT
