// History of a fit: one row per epoch, one column per number, as Keras' History and CSVLogger.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/name_argument.hpp>
#include <castnet/io/csv.hpp>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace castnet {

// The numbers of a column of a history, one per epoch.
class history_column : public std::vector<double> {
public:
    // Those of the first and the last epoch. Throw castnet::error where there is none.
    double front() const { return some().std::vector<double>::front(); }
    double back() const { return some().std::vector<double>::back(); }

private:
    history_column const& some() const;
};

class history {
public:
    // Where a column is least or largest.
    struct extreme {
        int epoch;    // from 1; 0 where there is none
        double value; // NaN where there is none
    };

    history() = default;
    // `rows`: one number for each name, epoch after epoch.
    explicit history(std::vector<std::string> names, std::vector<double> rows = {})
        : names_{std::move(names)}, rows_{std::move(rows)} {}

    // loss and metrics, the same with "val_" before them where there is validation data, then
    // learning_rate (of the epoch's last step), seconds (of training, without validation) and
    // waiting (the seconds of these in which it waited for samples that data::prefetch reads; of an
    // epoch that was interrupted, since the restart).
    std::vector<std::string> const& names() const { return names_; }
    // Rows: of the fit, the epochs before a restart included.
    std::size_t epochs() const { return names_.empty() ? 0 : rows_.size() / names_.size(); }
    std::vector<double> const& rows() const { return rows_; }

    // One number per epoch. Throws castnet::error if there is no such column.
    history_column operator[](name_argument name) const;

    // The first epoch with the least or largest number of a column; NaN and infinity do not count.
    // Throws castnet::error if there is no such column.
    extreme lowest(name_argument name) const { return extreme_of(name, -1); }
    extreme highest(name_argument name) const { return extreme_of(name, 1); }

    // `row` holds one number for each name.
    void append(std::vector<double> const& row);

    // Columns epoch (from 1) and names(). Throws file_error.
    void save_csv(std::string const& path) const;

private:
    std::size_t number_of(std::string_view name) const;
    extreme extreme_of(std::string_view name, double direction) const;

    std::vector<std::string> names_;
    std::vector<double> rows_;
};

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

[[gnu::noinline]] inline history_column const& history_column::some() const {
    if (empty()) {
        throw error("castnet: a column of this history has neither a first nor a last number: no "
                    "epoch was trained; see fit_options::epochs");
    }
    return *this;
}

[[gnu::noinline]] inline history_column history::operator[](name_argument name) const {
    history_column column;
    for (std::size_t k = number_of(name); k < rows_.size(); k += names_.size()) {
        column.push_back(rows_[k]);
    }
    return column;
}

[[gnu::noinline]] inline void history::append(std::vector<double> const& row) {
    for (double const x : row) {
        rows_.push_back(x);
    }
}

[[gnu::noinline]] inline void history::save_csv(std::string const& path) const {
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

[[gnu::noinline]] inline std::size_t history::number_of(std::string_view name) const {
    std::string known;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == name) {
            return i;
        }
        castnet::append(known, {i == 0 ? "" : ", ", names_[i]});
    }
    throw error({"castnet: history has no column '", name, "'; it has ", known,
                 (name.starts_with("val_") && known.find("val_") == known.npos
                      ? "; those of validation need fit_options::validation"
                      : "")});
}

[[gnu::noinline]] inline history::extreme history::extreme_of(std::string_view name,
                                                              double direction) const {
    extreme best{0, std::numeric_limits<double>::quiet_NaN()};
    std::size_t const column = number_of(name);
    for (std::size_t i = 0; i < epochs(); ++i) {
        double const x = rows_[i * names_.size() + column];
        if (detail::is_finite(x) && (best.epoch == 0 || direction * x > direction * best.value)) {
            best = {int(i) + 1, x};
        }
    }
    return best;
}

#endif

} // namespace castnet
