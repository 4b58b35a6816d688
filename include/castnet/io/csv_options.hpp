// Settings of a reader of comma-separated values.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace castnet::io {

struct csv_options {
    char separator = ',';
    char decimal = '.'; // the mark before the fraction of a number
    bool header = true; // the first line names the columns; else they are "0", "1", …
    // Cells that hold no value, besides empty ones and, of numbers, every other way to write NaN.
    std::vector<std::string> missing{"NA", "N/A", "nan", "NaN", "null"};
    // Their number; none: they are an error.
    std::optional<double> missing_value{};
    // The name of their class; none: they are an error.
    std::optional<std::string> missing_class{};
    // The longest text that is read.
    size_t most_bytes = size_t{1} << 32;
};

} // namespace castnet::io
