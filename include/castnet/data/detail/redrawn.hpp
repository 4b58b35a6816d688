// Base class of data sets whose samples are those of another one, changed at random in each epoch.
#pragma once

#include <castnet/data/adaptor.hpp>
#include <castnet/data/detail/epoch_random.hpp>

#include <utility>

namespace castnet::data::detail {

template <class Data>
class redrawn : public adaptor<Data> {
public:
    void begin_epoch(epoch const& e) const {
        if (!draws_) {
            data::begin_epoch(this->base(), e);
            return;
        }
        random_.begin(e);
        try {
            data::begin_epoch(this->base(), e);
        } catch (...) {
            random_.end();
            throw;
        }
    }
    void end_epoch() const {
        adaptor<Data>::end_epoch();
        if (draws_) {
            random_.end();
        }
    }
    bool changes_with_epoch() const { return draws_ || adaptor<Data>::changes_with_epoch(); }

protected:
    // `call`: the function that makes the data set.
    redrawn(Data data, char const* call, bool draws = true)
        : adaptor<Data>{std::move(data)}, draws_{draws}, random_{call} {}

    random_stream random_of(std::uint32_t purpose, size_t sample) const {
        return random_.of(purpose, sample);
    }
    bool draws() const { return draws_; }

private:
    bool draws_;
    epoch_random random_;
};

} // namespace castnet::data::detail
