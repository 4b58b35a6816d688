// Tables of numbers as comma-separated values (RFC 4180), as a spreadsheet or pandas reads them.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/atomic_file.hpp>

#include <charconv>

namespace castnet::io {

// Writes a line of column names and one line per row; `values` holds the rows one after the other.
// Every number is written in the fewest digits that read back as the same double. Atomic: see
// atomic_file. Throws file_error, also when the values do not fill whole rows.
void write_csv(std::string const& path, std::span<std::string const> names,
               std::span<double const> values);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

namespace detail {

[[gnu::noinline]] inline std::string csv_quoted(std::string const& name) {
    if (name.find_first_of(",\"\r\n") == std::string::npos) {
        return name;
    }
    std::string quoted = "\"";
    for (char const c : name) {
        append(quoted, {c == '"' ? "\"" : "", c});
    }
    quoted += '"';
    return quoted;
}

} // namespace detail

[[gnu::noinline]] inline void write_csv(std::string const& path, std::span<std::string const> names,
                                        std::span<double const> values) {
    if (names.empty() || values.size() % names.size() != 0) {
        throw file_error(path, {"a table of ", quantity(names.size(), "column"), " cannot hold ",
                                quantity(values.size(), "value"), ": rows must be complete"});
    }
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        append(text, {i == 0 ? "" : ",", detail::csv_quoted(names[i])});
    }
    for (size_t i = 0; i < values.size(); ++i) {
        char digits[32];
        auto const end = std::to_chars(digits, digits + sizeof digits, values[i]).ptr;
        text += i % names.size() == 0 ? '\n' : ',';
        text.append(digits, end);
    }
    text += '\n';
    atomic_file file{path};
    file.write(text);
    file.commit();
}

#endif

} // namespace castnet::io
