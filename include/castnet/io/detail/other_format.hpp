// Kind of a file that is not of the format that was expected, for the message that refuses it.
#pragma once

#include <castnet/core/language.hpp>

#include <string_view>

namespace castnet::io::detail {

// By its first bytes, of which eight are enough; empty where they are of no format known here.
constexpr char const* other_format(std::string_view first) {
    constexpr struct {
        std::string_view begin;
        char const* what;
    } formats[] = {
        {"version ", ", but a pointer of Git LFS: git lfs pull fetches the file itself"},
        {"<!DOCTYP", ", but a web page: see what was downloaded"},
        {"<!doctyp", ", but a web page: see what was downloaded"},
        {"<html", ", but a web page: see what was downloaded"},
        {"\x1F\x8B", ", but compressed with gzip: unpack it"},
        {"\x89HDF", ", but an HDF5 file"},
        {"\x93NUMPY", ", but a NumPy array"},
        {"PK\3\4", ", but a ZIP archive"},
        {"GIF8", ", but a GIF image"},
        {"RIFF", ", but a RIFF file, such as a WebP image"},
        {"II*", ", but a TIFF image"},
    };
    for (auto const& format : formats) {
        if (first.starts_with(format.begin)) {
            return format.what;
        }
    }
    return "";
}

} // namespace castnet::io::detail
