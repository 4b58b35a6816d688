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

    // Makes the copy on device number `device` by make(), without its samples, unless it exists.
    template <class Copy, class Make>
    void allocate_on(int device, Make const& make) const {
        spin_lock const lock{copies_->busy};
        copy_on<Copy>(device, make);
    }
    // The copy with its samples, which fill(copy) writes: once, or in every epoch, if they change
    // from epoch to epoch.
    template <class Copy, class Make, class Fill>
    Copy const& filled_on(int device, Make const& make, Fill const& fill) const {
        spin_lock const lock{copies_->busy};
        auto const [copy, epoch] = copy_on<Copy>(device, make);
        if (epoch != copies_->epoch) {
            fill(copy);
            epoch = copies_->epoch;
        }
        return copy;
    }

    void begin_epoch(epoch const& e) const
        requires ReadByEpochs<Dataset>
    {
        Dataset::begin_epoch(e);
        forget_samples();
    }
    // One around it may go on, with other samples.
    void end_epoch() const
        requires ReadByEpochs<Dataset>
    {
        data::end_epoch<Dataset>(*this);
        forget_samples();
    }

private:
    struct entry {
        void const* type; // identifies Copy
        int device;
        std::shared_ptr<void> copy;
        std::uint64_t epoch = 0; // of its samples; 0: it has none yet
    };
    struct all_copies {
        std::atomic_flag busy;
        std::vector<entry> entries;
        std::uint64_t epoch = 1; // counts those of fit() and evaluate()
    };

    void forget_samples() const {
        spin_lock const lock{copies_->busy};
        ++copies_->epoch;
    }

    // With the epoch of its samples.
    template <class Copy, class Make>
    std::pair<Copy&, std::uint64_t&> copy_on(int device, Make const& make) const {
        static constexpr char type{};
        auto& all = copies_->entries;
        auto found = std::find_if(all.begin(), all.end(), [&](entry const& e) {
            return e.type == &type && e.device == device;
        });
        if (found == all.end()) {
            found = all.insert(found, {&type, device, std::make_shared<Copy>(make())});
        }
        return {*static_cast<Copy*>(found->copy.get()), found->epoch};
    }

    std::shared_ptr<all_copies> copies_ = std::make_shared<all_copies>();
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
// Images of augment() are changed there in every epoch, if its transforms have draw(), and samples
// of mixup() and cutmix() are mixed there, also those of augment(). What else changes, such as
// balanced_sample(), is copied anew before the first step of each epoch; prefetch() without
// on_device() copies it meanwhile. Throws castnet::error before anything is trained if the device
// has too little memory. On a CPU nothing is copied.
template <class Dataset>
data::on_device_set<Dataset> on_device(Dataset data) {
    return data::on_device_set<Dataset>{std::move(data)};
}

} // namespace castnet
