// Parser of comma-separated values (RFC 4180), without the meaning of their cells.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/csv_options.hpp>
#include <castnet/io/detail/byte_order_mark.hpp>
#include <castnet/io/detail/shown.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace castnet::io::detail {

// A cell's text, without its quotes.
[[gnu::noinline]] inline std::string unquoted(std::string_view cell) {
    if (cell.size() < 2 || cell.front() != '"') {
        return std::string{cell};
    }
    std::string text;
    for (size_t i = 1; i + 1 < cell.size(); ++i) {
        text += cell[i];
        i += size_t{cell[i] == '"'}; // two for one
    }
    return text;
}

inline constexpr std::string_view frequent_separators = ",;\t|";

[[gnu::noinline]] inline std::string hint_at_separator(char mark) {
    return string_of({"; if cells are separated by ",
                      mark == '\t' ? std::string{"tabs"} : shown({&mark, 1}),
                      ", set csv_options::separator"});
}
// Where all of the first line is one name, because another mark is between its cells.
[[gnu::noinline]] inline std::string hint_at_separator(std::vector<std::string> const& names) {
    size_t const at =
        names.size() == 1 ? names[0].find_first_of(frequent_separators) : std::string::npos;
    return at == std::string::npos ? "" : hint_at_separator(names[0][at]);
}

struct csv_cells {
    std::vector<std::string> names;      // of the columns
    std::vector<std::string_view> cells; // of all rows, with their quotes: parts of the text
};

class csv_parser {
public:
    csv_parser(std::string_view text, std::string const& file, csv_options const& options)
        : rest_{text}, file_{file}, options_{options} {}

    // Throws file_error unless all rows have as many cells, quotes are closed, and no two columns
    // have the same name.
    [[gnu::noinline]] csv_cells parse() {
        csv_cells found;
        rest_.remove_prefix(byte_order_mark(rest_, file_));
        for (; !rest_.empty(); ++line_) {
            size_t const first = line_;
            read_row();
            if (row_.size() == 1 && row_[0].find_first_not_of(" \t") == row_[0].npos) {
                continue;
            }
            if (found.names.empty()) {
                found.names = names_of_row();
                if (options_.header) {
                    continue;
                }
            }
            if (row_.size() != found.names.size()) {
                throw file_error(file_, {"line ", first, ": found ", quantity(row_.size(), "cell"),
                                         ", expected ", found.names.size(), " as in the first line",
                                         hint_at_separator(found.names), hint_at_quotes()});
            }
            found.cells.insert(found.cells.end(), row_.begin(), row_.end());
        }
        return found;
    }

private:
    [[gnu::noinline]] std::vector<std::string> names_of_row() const {
        std::vector<std::string> names;
        names.reserve(row_.size());
        for (size_t i = 0; i < row_.size(); ++i) {
            names.push_back(options_.header ? unquoted(row_[i]) : std::to_string(i));
        }
        std::vector<std::string> sorted = names;
        std::sort(sorted.begin(), sorted.end());
        auto const twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end()) {
            throw file_error(
                file_, {"two columns have the name ", shown(*twice),
                        "; if the first line holds no names, set csv_options::header to false"});
        }
        return names;
    }

    // Takes the cells of a row off the text, with the end of its last line.
    [[gnu::noinline]] void read_row() {
        row_.clear();
        for (;;) {
            size_t end = end_of_cell();
            row_.push_back(rest_.substr(0, end));
            if (end < rest_.size() && rest_[end] == options_.separator) {
                rest_.remove_prefix(end + 1);
                continue;
            }
            end += size_t{end < rest_.size() && rest_[end] == '\r'};
            end += size_t{end < rest_.size() && rest_[end] == '\n'};
            rest_.remove_prefix(end);
            return;
        }
    }

    size_t end_of_cell() {
        if (rest_.starts_with('"')) {
            return end_of_quoted_cell();
        }
        size_t end = 0;
        while (!ends_cell(end)) {
            ++end;
        }
        return end;
    }

    [[gnu::noinline]] size_t end_of_quoted_cell() {
        size_t end = rest_.find('"', 1);
        while (end != rest_.npos && end + 1 < rest_.size() && rest_[end + 1] == '"') {
            end = rest_.find('"', end + 2);
        }
        if (end == rest_.npos) {
            throw file_error(file_, {"line ", line_, ": a quote is not closed"});
        }
        ++end;
        line_ += size_t(std::count(rest_.begin(), rest_.begin() + std::ptrdiff_t(end), '\n'));
        if (!ends_cell(end)) {
            bool const is_mark = frequent_separators.find(rest_[end]) != rest_.npos;
            throw file_error(file_, {"line ", line_, ": found text after the quotes of a cell",
                                     is_mark ? hint_at_separator(rest_[end]) : ""});
        }
        return end;
    }

    bool ends_cell(size_t at) const {
        return at >= rest_.size() || rest_[at] == options_.separator || rest_[at] == '\n' ||
               rest_[at] == '\r';
    }

    // Where quotes are part of a cell's text, because they do not begin it.
    [[gnu::noinline]] char const* hint_at_quotes() const {
        bool const begins_with_space = std::any_of(row_.begin(), row_.end(), [](auto const& cell) {
            size_t const at = cell.find_first_not_of(' ');
            return at != cell.npos && at > 0 && cell[at] == '"';
        });
        return begins_with_space ? "; a cell has a space before its quotes, where they do not "
                                   "count: remove it"
                                 : "";
    }

    std::string_view rest_;
    std::string const& file_;
    csv_options const& options_;
    std::vector<std::string_view> row_;
    size_t line_ = 1; // its number, as messages name it
};

} // namespace castnet::io::detail
