// Base class of data sets made from another one.
#pragma once

#include <castnet/data/epoch.hpp>
#include <castnet/data/is_dataset.hpp>
#include <castnet/data/targets.hpp>

#include <utility>

namespace castnet::data {

// The members of a data set, from the one that it is made from; an adaptor hides those that differ.
// It is told of epochs where that one is; one that changes with them begins those of base(), too.
template <class Data>
class adaptor {
    static_assert(is_dataset<Data>::checked);

public:
    using target_type = typename Data::target_type;
    static constexpr size_t input_count = Data::input_count;
    template <size_t I>
    using input_shape = typename Data::template input_shape<I>;

    explicit adaptor(Data data) : data_{std::move(data)} {}

    size_t size() const { return data_.size(); }
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        data_.template copy_input<I>(sample, out);
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        data::copy_target<I>(data_, sample, out);
    }
    float weight(size_t sample) const
        requires requires(Data const& d) { d.weight(sample); }
    {
        return data_.weight(sample);
    }
    size_t shuffle_buffer() const
        requires requires(Data const& d) { d.shuffle_buffer(); }
    {
        return data_.shuffle_buffer();
    }
    void begin_epoch(epoch const& e) const
        requires ReadByEpochs<Data>
    {
        data_.begin_epoch(e);
    }
    void begin_step() const { data::begin_step(data_); }
    void end_epoch() const { data::end_epoch(data_); }

    bool changes_with_epoch() const { return data::changes_with_epoch(data_); }

    // The data set that this one was made from.
    Data const& base() const { return data_; }

private:
    Data data_;
};

} // namespace castnet::data
