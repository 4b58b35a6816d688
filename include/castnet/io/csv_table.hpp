// Reader of tables in comma-separated values (RFC 4180), as spreadsheets and pandas write them.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/from_chars.hpp>
#include <castnet/io/compressed.hpp>
#include <castnet/io/csv_options.hpp>
#include <castnet/io/detail/csv_parser.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string_view>

namespace castnet::io {

namespace detail {

// Whether a text is a whole number, of any length, and whether one is less than another; where both
// are the same number, such as 7 and 07, their texts decide.
inline bool is_whole_number(std::string_view text) {
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}
[[gnu::noinline]] inline bool is_less(std::string_view a, std::string_view b) {
    auto const digits = [](std::string_view text) {
        return text.substr(std::min(text.find_first_not_of("-0"), text.size()));
    };
    bool const negative = a.starts_with('-');
    auto const x = digits(a), y = digits(b);
    if (negative != b.starts_with('-') || x == y) {
        return a < b; // a minus comes before all digits
    }
    return (x.size() != y.size() ? x.size() < y.size() : x < y) != negative;
}

} // namespace detail

// Class numbers of a column of text: a name for each number, and a number for each row.
struct csv_classes {
    std::vector<std::string> names;
    std::vector<int> labels;
};

// The cells of a file as text, which its columns' names turn into numbers. Lines that are empty or
// hold only spaces are no rows, as pandas reads them: a missing cell of a single column is "". A
// row is counted from 1, without the header; messages name the file, the row and the column.
class csv_table {
public:
    // Throws file_error unless all rows have as many cells, quotes are closed, no two columns have
    // the same name, and the table fits into memory.
    csv_table(source& in, csv_options options = {}) try
        : file_{in.file()}, options_{std::move(options)} {
        if (std::string_view{"\"\r\n"}.find(options_.separator) != std::string_view::npos) {
            throw file_error(file_, "csv_options::separator is a quote or an end of a line, "
                                    "expected the mark between two cells");
        }
        text_ = std::make_shared<bytes const>(in.read_all(options_.most_bytes));
        std::string_view const text{reinterpret_cast<char const*>(text_->data()), text_->size()};
        auto [names, cells] = detail::csv_parser{text, file_, options_}.parse();
        names_ = std::move(names);
        cells_ = std::move(cells);
    } catch (std::bad_alloc const&) {
        in.refuse_size();
    }

    size_t rows() const { return names_.empty() ? 0 : cells_.size() / names_.size(); }
    std::vector<std::string> const& names() const { return names_; }

    // A cell, without its quotes.
    std::string text(size_t row, std::string_view column) const {
        return detail::unquoted(cell(row, number_of(column)));
    }

    // A column of numbers. Throws file_error for a cell that is none, or none of double's range.
    [[gnu::noinline]] std::vector<double> numbers(std::string_view column) const {
        size_t const number = number_of(column);
        std::vector<double> values(rows());
        for (size_t row = 0; row < rows(); ++row) {
            values[row] = value(row, number);
        }
        return values;
    }

    // Several columns as the input of a data set, row after row. Throws file_error for a cell that
    // is no number of float's range.
    [[gnu::noinline]] std::vector<float> matrix(std::span<std::string const> columns) const {
        std::vector<size_t> numbers;
        for (std::string const& name : columns) {
            numbers.push_back(number_of(name));
        }
        std::vector<float> values;
        values.reserve(rows() * numbers.size());
        for (size_t row = 0; row < rows(); ++row) {
            for (size_t const number : numbers) {
                double const found = value(row, number);
                if (castnet::detail::is_finite(found) &&
                    std::abs(found) > double(std::numeric_limits<float>::max())) {
                    fail(row, number, string_of({"found ", found, ", beyond the range of float"}));
                }
                values.push_back(static_cast<float>(found));
            }
        }
        return values;
    }
    std::vector<float> matrix(std::initializer_list<std::string> columns) const {
        return matrix(std::span{columns.begin(), columns.size()});
    }

    // All columns but these, in the order of the file.
    [[gnu::noinline]] std::vector<std::string>
    names_without(std::initializer_list<std::string_view> left_out) const {
        for (std::string_view const name : left_out) {
            number_of(name);
        }
        std::vector<std::string> kept;
        std::copy_if(names_.begin(), names_.end(), std::back_inserter(kept),
                     [&](std::string const& name) {
                         return std::find(left_out.begin(), left_out.end(), name) == left_out.end();
                     });
        return kept;
    }

    // A column of text as class numbers, in the order of the sorted names; where all of them are
    // whole numbers, by their values. Throws file_error for a cell that is missing, unless
    // csv_options::missing_class names the class of those.
    [[gnu::noinline]] csv_classes classes(std::string_view column) const {
        std::vector<std::string> names = class_names(number_of(column));
        bool const are_numbers = std::all_of(names.begin(), names.end(), detail::is_whole_number);
        std::sort(names.begin(), names.end(), [&](auto const& a, auto const& b) {
            return are_numbers ? detail::is_less(a, b) : a < b;
        });
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return classes(column, std::move(names));
    }

    // The same with the names of another table, such as that of the training: a table that lacks
    // one of the classes would number the others differently. Throws file_error for a cell that is
    // none of them, and for a name that is given twice.
    [[gnu::noinline]] csv_classes classes(std::string_view column,
                                          std::vector<std::string> names) const {
        size_t const number = number_of(column);
        std::map<std::string, int, std::less<>> numbers;
        for (size_t i = 0; i < names.size(); ++i) {
            if (!numbers.emplace(names[i], static_cast<int>(i)).second) {
                throw file_error(file_, {"column ", detail::shown(column), ": the class ",
                                         detail::shown(names[i]), " was given twice, as numbers ",
                                         numbers[names[i]], " and ", i});
            }
        }
        csv_classes found{std::move(names), {}};
        for (std::string const& name : class_names(number)) {
            auto const at = numbers.find(name);
            if (at == numbers.end()) {
                fail(found.labels.size(), number,
                     string_of({"found ", detail::shown(name), ", which is none of the ",
                                found.names.size(), " classes"}));
            }
            found.labels.push_back(at->second);
        }
        return found;
    }

private:
    // The texts of a column, with the class of those that are missing.
    [[gnu::noinline]] std::vector<std::string> class_names(size_t column) const {
        std::vector<std::string> names;
        for (size_t row = 0; row < rows(); ++row) {
            names.push_back(detail::unquoted(cell(row, column)));
            if (is_missing(names.back())) {
                if (!options_.missing_class) {
                    fail(row, column,
                         "the cell is missing, expected the name of a class; give those a class "
                         "of their own with csv_options::missing_class");
                }
                names.back() = *options_.missing_class;
            }
        }
        return names;
    }

    // Quotes are part of it.
    std::string_view cell(size_t row, size_t column) const {
        if (row >= rows()) {
            throw file_error(file_, {"there is no row ", row + 1, ", the table has ", rows()});
        }
        return cells_[row * names_.size() + column];
    }

    [[gnu::noinline]] size_t number_of(std::string_view column) const {
        auto const found = std::find(names_.begin(), names_.end(), column);
        if (found == names_.end()) {
            if (names_.empty()) {
                throw file_error(
                    file_, {"there is no column ", detail::shown(column), "; the file is empty"});
            }
            std::string all;
            for (std::string const& name : names_) {
                append(all, {all.empty() ? "" : ", ", detail::shown(name)});
            }
            throw file_error(file_, {"there is no column ", detail::shown(column), "; there are ",
                                     all, detail::hint_at_separator(names_)});
        }
        return static_cast<size_t>(found - names_.begin());
    }

    [[noreturn, gnu::cold]] void fail(size_t row, size_t column, std::string const& what) const {
        throw file_error(file_,
                         {"row ", row + 1, ", column ", detail::shown(names_[column]), ": ", what});
    }

    bool is_missing(std::string_view cell) const {
        return cell.empty() || std::find(options_.missing.begin(), options_.missing.end(), cell) !=
                                   options_.missing.end();
    }

    [[gnu::noinline]] double value(size_t row, size_t column) const {
        std::string const whole = detail::unquoted(cell(row, column));
        std::string_view text = whole;
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
            text.remove_prefix(1);
        }
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
            text.remove_suffix(1);
        }
        if (is_missing(text)) {
            return missing(row, column);
        }
        if (text.front() == '+' && !text.starts_with("+-")) {
            text.remove_prefix(1);
        }
        std::string digits{text};
        for (char& c : digits) { // so that a point is no other mark, either
            c = c == '.' ? options_.decimal : c == options_.decimal ? '.' : c;
        }
        double number = 0;
        char const* const last = digits.data() + digits.size();
        auto const [end, failed] = castnet::detail::from_chars(digits.data(), last, number);
        bool const is_whole = end == last;
        if (failed == std::errc::result_out_of_range && is_whole) {
            fail(row, column,
                 string_of({"found ", detail::shown(whole),
                            ", beyond the range of double, 5e-324 to 1.8e+308; write 0 or the "
                            "bound, or leave the row out of the file"}));
        }
        if (failed != std::errc{} || !is_whole) {
            std::string advice;
            size_t const mark = names_.size() == 1 ? text.find_first_of(";\t|") : text.npos;
            if (mark != text.npos) {
                advice = detail::hint_at_separator(text[mark]);
            } else if (text.find_first_of("0123456789") == text.npos) {
                advice = "; classes() reads text, and csv_options::missing lists what stands for a "
                         "missing value";
            } else if (text.find_first_of(".,") != text.npos) {
                advice = string_of({" with '", options_.decimal,
                                    "' before its fraction, see "
                                    "csv_options::decimal, and no other mark"});
            }
            fail(row, column,
                 string_of({"found ", detail::shown(whole), ", expected a number", advice}));
        }
        bool const is_nan = castnet::detail::is_nan(number); // however it is spelt
        return is_nan ? missing(row, column) : number;
    }

    [[gnu::noinline]] double missing(size_t row, size_t column) const {
        if (!options_.missing_value) {
            fail(row, column,
                 "the cell is empty or says that its value is missing; set "
                 "csv_options::missing_value, or leave the row out of the file");
        }
        return *options_.missing_value;
    }

    std::string file_;
    csv_options options_;
    std::shared_ptr<bytes const> text_;
    std::vector<std::string> names_;
    std::vector<std::string_view> cells_; // of the text
};

inline namespace CASTNET_GZIP_SUPPORT {

// The table in the file `path`, or in `path`.gz; see read_compressed.
inline csv_table read_csv(std::string const& path, csv_options const& options = {}) {
    return read_compressed(path, [&](source& in) { return csv_table{in, options}; });
}

} // namespace CASTNET_GZIP_SUPPORT

} // namespace castnet::io
