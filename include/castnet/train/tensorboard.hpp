// Callback that writes what TensorBoard shows.
#pragma once

#include <castnet/io/event_file.hpp>
#include <castnet/train/callback.hpp>

#include <memory>
#include <string>

namespace castnet {

// The columns of the history, as scalars over the epochs, in an event file in this folder: one for
// each fit, also of a resumed training. Throws file_error.
class tensorboard {
public:
    explicit tensorboard(std::string folder) : folder_{std::move(folder)} {}

    void end_epoch(epoch_report const& report) {
        if (report.rank != 0) {
            return;
        }
        if (!file_) {
            file_ = std::make_unique<io::event_file>(folder_);
        }
        auto const& names = report.history.names();
        auto const& rows = report.history.rows();
        for (std::size_t i = 0; i < names.size(); ++i) {
            file_->add_scalar(names[i], static_cast<std::uint64_t>(report.epoch),
                              rows[rows.size() - names.size() + i]);
        }
    }
    void end_fit(history const&) { file_.reset(); }

private:
    std::string folder_;
    std::unique_ptr<io::event_file> file_;
};

// Histograms of a model's parameters, under their names, in an event file.
template <class Model>
void add_histograms(io::event_file& file, Model const& model, std::uint64_t step) {
    for (std::size_t i = 0; i < Model::parameter_tensors(); ++i) {
        std::string const name = Model::parameter_at(i).name.text();
        auto const values = model.get(name);
        file.add_histogram(name, step, std::span{values});
    }
}

} // namespace castnet
