// Epochs as data sets see them: those that read ahead or change their samples are told of each.
#pragma once

#include <castnet/core/shape.hpp>

#include <cstdint>
#include <span>

namespace castnet::data {

// An epoch of fit() or a pass of evaluate().
struct epoch {
    std::uint64_t seed = 0;   // the model's
    std::uint64_t number = 0; // from 0, over all fits
    // The samples that this process reads, in this order; during the call only.
    std::span<size_t const> order{};
    size_t rows = 1; // of a step
};

// A data set that is told of epochs: begin_epoch(epoch) before the first sample is read and, if it
// has them, begin_step() before those of each step, and end_epoch() after the last one, or where an
// exception ends the fit.
template <class Data>
concept ReadByEpochs = requires(Data const& data, epoch const& e) { data.begin_epoch(e); };

template <class Data>
void begin_epoch([[maybe_unused]] Data const& data, [[maybe_unused]] epoch const& e) {
    if constexpr (ReadByEpochs<Data>) {
        data.begin_epoch(e);
    }
}
template <class Data>
void begin_step([[maybe_unused]] Data const& data) {
    if constexpr (requires { data.begin_step(); }) {
        data.begin_step();
    }
}
template <class Data>
void end_epoch([[maybe_unused]] Data const& data) {
    if constexpr (requires { data.end_epoch(); }) {
        data.end_epoch();
    }
}

// Whether the samples of an epoch differ from those of others, of data sets that say so.
template <class Data>
bool changes_with_epoch([[maybe_unused]] Data const& data) {
    if constexpr (requires { data.changes_with_epoch(); }) {
        return data.changes_with_epoch();
    }
    return false;
}

// The seconds since the epoch began in which its reader waited for samples; 0 for data sets that
// are not read ahead.
template <class Data>
double seconds_waited([[maybe_unused]] Data const& data) {
    if constexpr (requires { data.seconds_waited(); }) {
        return data.seconds_waited();
    }
    return 0;
}

// Begins an epoch of such a data set, and ends it.
template <ReadByEpochs Data>
class epoch_scope {
public:
    epoch_scope(Data const& data, epoch const& e) : data_{data} { data_.begin_epoch(e); }
    epoch_scope(epoch_scope const&) = delete;
    epoch_scope& operator=(epoch_scope const&) = delete;
    ~epoch_scope() { data::end_epoch(data_); }

private:
    Data const& data_;
};

} // namespace castnet::data
