// What fit() reports of each epoch: one column per number, as Keras' History and CSVLogger.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/io/csv.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace castnet {

class history {
public:
    explicit history(std::vector<std::string> names) : names_{std::move(names)} {}

    // loss and metrics, the same with "val_" before them where there is validation data, then
    // learning_rate (of the epoch's last step) and seconds (of training, without validation).
    std::vector<std::string> const& names() const { return names_; }
    std::size_t epochs() const { return rows_.size() / names_.size(); }

    // One number per epoch. Throws castnet::error if there is no such column.
    [[gnu::cold]] std::vector<double> operator[](std::string_view name) const {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (names_[i] == name) {
                std::vector<double> column;
                for (std::size_t k = i; k < rows_.size(); k += names_.size()) {
                    column.push_back(rows_[k]);
                }
                return column;
            }
        }
        throw error({"castnet: history has no column '", name, "'"});
    }

    // `row` holds one number for each name.
    [[gnu::cold]] void append(std::vector<double> const& row) {
        for (double const x : row) {
            rows_.push_back(x);
        }
    }

    // Columns epoch (from 1) and names(). Throws file_error.
    [[gnu::cold]] void save_csv(std::string const& path) const {
        std::vector<std::string> names;
        names.push_back("epoch");
        for (std::string const& name : names_) {
            names.push_back(name);
        }
        std::vector<double> values;
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            if (k % names_.size() == 0) {
                std::size_t const epoch = 1 + k / names_.size();
                values.push_back(static_cast<double>(epoch));
            }
            values.push_back(rows_[k]);
        }
        io::write_csv(path, names, values);
    }

private:
    std::vector<std::string> names_;
    std::vector<double> rows_;
};

} // namespace castnet
