// Device-resident data set, on_device(data): the device that trains on it keeps a copy.
#pragma once

#include <castnet/core/spin_lock.hpp>
#include <castnet/data/dataset.hpp>

#include <atomic>
#include <memory>
#include <vector>

namespace castnet {

namespace data {

// The data set it was made from, with ownership of the devices' copies.
template <class Dataset>
class on_device_set : public Dataset {
public:
    explicit on_device_set(Dataset data) : Dataset{std::move(data)} {}

    // The copy on device number `device`, which the first call for that device gets from make().
    template <class Kept, class Make>
    Kept const& kept_on(int device, Make const& make) const {
        static constexpr char type{};
        spin_lock const lock{kept_->busy};
        for (copy const& c : kept_->copies) {
            if (c.type == &type && c.device == device) {
                return *static_cast<Kept const*>(c.what.get());
            }
        }
        auto made = std::make_shared<Kept const>(make());
        kept_->copies.push_back({&type, device, made});
        return *made;
    }

private:
    struct copy {
        void const* type; // identifies Kept
        int device;
        std::shared_ptr<void const> what;
    };
    struct all_copies {
        std::atomic_flag busy;
        std::vector<copy> copies;
    };
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
// until the last copy of the result is destroyed, so store the result for more than one call. What
// changes from epoch to epoch, such as augment() or balanced_sample(), is copied as it is at first.
// Throws castnet::error before anything is trained if the device has too little memory. On a CPU
// nothing is copied.
template <class Dataset>
data::on_device_set<Dataset> on_device(Dataset data) {
    return data::on_device_set<Dataset>{std::move(data)};
}

} // namespace castnet
