// TensorBoard event files of a training: a callback for its history, and functions for parameters,
// gradients, the network and hyperparameters.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/event_file.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/pictures.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace castnet {

// The columns of the history, as scalars over the epochs, in an event file in this folder: one for
// each fit, also of a resumed training. Throws file_error.
class tensorboard {
public:
    explicit tensorboard(std::string folder) : folder_{std::move(folder)} {}

    void check_files(history const&) const { io::event_file::check_folder(folder_); }
    void begin_fit(history const&) { file_.reset(); } // of one that an exception has ended
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

// Histograms of the gradients in a training's last step, as <parameter>.gradient.
template <class Training>
void add_gradient_histograms(io::event_file& file, Training const& training, std::uint64_t step) {
    for (ir::placed_parameter const& p : Training::training_plan().parameters) {
        if (p.trainable) {
            std::string const name = p.name.text();
            auto const values = training.gradient(name);
            file.add_histogram(name + ".gradient", step, std::span{values});
        }
    }
}

// The network as it predicts, of the operations as the compiler has fused them; see
// network_picture().
template <class Model>
void add_graph(io::event_file& file, Model const&) {
    auto const launches = detail::pictured_launches<Model::prediction_plan>();
    auto const name = [&](int i) { // "3_conv_relu"
        if (i < 0) {
            return std::string{"inputs"};
        }
        std::string text = string_of({i, ' ', launches[std::size_t(i)].text});
        text.resize(text.find(','));
        std::replace(text.begin(), text.end(), ' ', '_');
        std::erase(text, '\'');
        return text;
    };
    std::vector<io::event_graph_node> nodes{{"inputs", "inputs"}};
    for (int i = 0; i < int(launches.size()); ++i) {
        nodes.push_back({name(i), launches[std::size_t(i)].text});
        for (int const from : launches[std::size_t(i)].reads) {
            nodes.back().reads.push_back(name(from));
        }
    }
    file.add_graph(nodes);
}

// The numbers of a training's optimizer, its batch and its seed.
template <class Training>
void add_hyperparameters(io::event_file& file, Training const& training) {
    std::vector<io::event_setting> settings;
    if constexpr (requires { training.optimizer().hyperparameters(); }) {
        for (hyperparameter const& h : training.optimizer().hyperparameters()) {
            settings.push_back({h.name, h.value});
        }
    }
    settings.push_back({"samples_per_step", double(training.step_capacity())});
    settings.push_back({"seed", double(training.model().seed_value())});
    file.add_hyperparameters(settings);
}

} // namespace castnet
