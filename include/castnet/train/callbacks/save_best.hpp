// The best parameters of a fit in a file.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/train/callback.hpp>
#include <castnet/train/callbacks/best_epoch.hpp>
#include <castnet/train/weights.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace castnet {

struct best_options {
    std::string monitor = "val_loss";
    better best = better::automatic;
    bool restore = false; // whether the model gets the best parameters back at the end of the fit
};

// Saves the model's parameters whenever a column is the best so far: Keras'
// ModelCheckpoint(save_best_only) and EarlyStopping(restore_best_weights). A resumed fit that is to
// restore them needs the file that the interrupted fit wrote. Throws castnet::error at the end of a
// fit in which the column was NaN in every epoch, since then nothing was saved. Refers to the
// model.
template <class Model>
class save_best {
    static_assert(
        requires { Model::parameter_tensors(); },
        "castnet: save_best keeps the parameters of a model: cn::save_best{model, "
        "\"best.safetensors\"}; checkpoints of a training are "
        "cn::save_each{training, \"{epoch}\"}");

public:
    save_best(Model& model, std::string file, best_options options = {})
        : model_{&model}, file_{std::move(file)}, options_{std::move(options)} {}

    std::string next_file(history const&) const { return file_; }
    [[gnu::noinline]] void check_files(history const& h) const {
        auto const best = std::size_t(detail::best_epoch(h, options_.monitor, options_.best));
        // If the last epoch is the best, the fit may have been interrupted before it was saved.
        if (options_.restore && best > 0 && best < h.epochs()) {
            if (!io::exists(file_)) {
                throw file_error(file_,
                                 {"is not there, but should hold the parameters of epoch ", best,
                                  ", the best so far of the fit that goes on; put it "
                                  "there, or leave out best_options::restore"});
            }
            static_cast<void>(detail::parameters_in<Model>(detail::load_weights_file(file_)));
        }
    }
    [[gnu::noinline]] void begin_fit(history const& h) const {
        static_cast<void>(h[options_.monitor]);
    }
    [[gnu::noinline]] void end_epoch(epoch_report const& report) const {
        bool const improved =
            detail::best_epoch(report.history, options_.monitor, options_.best) == report.epoch;
        if (improved && report.rank == 0) {
            save(*model_, file_);
        }
    }
    [[gnu::noinline]] void end_fit(history const& h) const {
        bool const found = detail::best_epoch(h, options_.monitor, options_.best) > 0;
        if (!found && h.epochs() > 0) {
            throw error(
                {"castnet: save_best: ", options_.monitor,
                 " was NaN in every epoch, so none is the best, and the fit has not written ",
                 file_, "; monitor another column"});
        }
        if (found && options_.restore) {
            load(*model_, file_);
        }
    }

private:
    Model* model_;
    std::string file_;
    best_options options_;
};

// Only for their message.
template <class Given>
class save_best<detail::half_of_arguments<Given>> {
    static_assert(detail::never<Given>,
                  "castnet: save_best is told the model and the file to save it in: "
                  "cn::save_best{model, \"best.safetensors\"}");

public:
    explicit save_best(auto const&...) {}
    void end_epoch(epoch_report const&) const {}
};
template <class Model>
    requires requires { Model::parameter_tensors(); }
save_best(Model const&) -> save_best<detail::half_of_arguments<Model>>;
template <class... More>
save_best(char const*, More const&...) -> save_best<detail::half_of_arguments<char const*>>;

} // namespace castnet
