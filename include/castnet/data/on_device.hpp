// Device-resident data set, on_device(data): the device that trains on it keeps a copy.
#pragma once

#include <castnet/core/spin_lock.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/epoch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace castnet {

namespace data {

// The data set it was made from, with ownership of the devices' copies.
template <class Dataset>
class on_device_set : public Dataset {
public:
    explicit on_device_set(Dataset data) : Dataset{std::move(data)} {}

    // The room for a copy on device number `device`, which the first call for that device gets from
    // make().
    template <class Kept, class Make>
    Kept const& room_on(int device, Make const& make) const {
        spin_lock const lock{kept_->busy};
        return room<Kept>(device, make).first;
    }
    // The same with the samples, which fill(room) writes: once, or in every epoch, if they change
    // from epoch to epoch.
    template <class Kept, class Make, class Fill>
    Kept const& kept_on(int device, Make const& make, Fill const& fill) const {
        spin_lock const lock{kept_->busy};
        auto const [kept, epoch] = room<Kept>(device, make);
        if (epoch != kept_->epoch) {
            fill(kept);
            epoch = kept_->epoch;
        }
        return kept;
    }

    void begin_epoch(epoch const& e) const
        requires ReadByEpochs<Dataset>
    {
        Dataset::begin_epoch(e);
        spin_lock const lock{kept_->busy};
        ++kept_->epoch;
    }

private:
    struct copy {
        void const* type; // identifies Kept
        int device;
        std::shared_ptr<void> what;
        std::uint64_t epoch = 0; // of its samples; 0: it has none yet
    };
    struct all_copies {
        std::atomic_flag busy;
        std::vector<copy> copies;
        std::uint64_t epoch = 1; // counts those of fit() and evaluate()
    };

    // With the epoch of its samples.
    template <class Kept, class Make>
    std::pair<Kept&, std::uint64_t&> room(int device, Make const& make) const {
        static constexpr char type{};
        auto& all = kept_->copies;
        auto found = std::find_if(all.begin(), all.end(), [&](copy const& c) {
            return c.type == &type && c.device == device;
        });
        if (found == all.end()) {
            found = all.insert(found, {&type, device, std::make_shared<Kept>(make())});
        }
        return {*static_cast<Kept*>(found->what.get()), found->epoch};
    }

    std::shared_ptr<all_copies> kept_ = std::make_shared<all_copies>();
};

template <class T>
inline constexpr bool is_on_device = false;
template <class Dataset>
inline constexpr bool is_on_device<on_device_set<Dataset>> = true;

} // namespace data

// The same data set, which fit(), evaluate() and step() copy to the device's memory once, as
// PyTorch's tensor.to(device) does; then only the indices and weights of a step's samples go there:
//   training.fit(on_device(data.train), {.validation = on_device(data.test)});
// Bytes stay bytes there, and become numbers when a step reads them. The device keeps its copy
// until the last copy of the result is destroyed, so store the result for more than one call.
// Images of augment() are changed there in every epoch, if its transforms have draw(). What else
// changes, such as balanced_sample(), is copied anew before the first step of each epoch;
// prefetch() without on_device() copies it meanwhile. Throws castnet::error before anything is
// trained if the device has too little memory. On a CPU nothing is copied.
template <class Dataset>
data::on_device_set<Dataset> on_device(Dataset data) {
    return data::on_device_set<Dataset>{std::move(data)};
}

} // namespace castnet
