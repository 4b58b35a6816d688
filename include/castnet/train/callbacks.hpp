// Callbacks that Keras, Estimator and PyTorch users know, for fit_options::callbacks. Where one
// monitors a column that the history will not have, a number of one is out of its range, or a file
// cannot be written or is also another's, fit() throws castnet::error before its first step.
#pragma once

#include <castnet/train/callbacks/csv_log.hpp>
#include <castnet/train/callbacks/early_stopping.hpp>
#include <castnet/train/callbacks/function.hpp>
#include <castnet/train/callbacks/reduce_on_plateau.hpp>
#include <castnet/train/callbacks/save_best.hpp>
#include <castnet/train/callbacks/save_each.hpp>
#include <castnet/train/callbacks/step_times.hpp>
#include <castnet/train/callbacks/stop_on_signal.hpp>
