// on_device(data): a data set of which the device that trains on it keeps a copy.
#pragma once

#include <castnet/core/turn.hpp>
#include <castnet/data/dataset.hpp>

#include <atomic>
#include <memory>
#include <vector>

namespace castnet {

namespace data {

// Is the data set that it was made of, and owns what devices keep of it.
template <class Dataset>
class on_device_set : public Dataset {
public:
    explicit on_device_set(Dataset data) : Dataset{std::move(data)} {}

    // What device number `device` keeps, made by make() when it is asked for first.
    template <class Kept, class Make>
    Kept const& kept_on(int device, Make const& make) const {
        static constexpr char type{};
        turn const one_at_a_time{kept_->busy};
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
        void const* type; // of what is kept
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
// PyTorch's tensor.to(device) does; then only the numbers and weights of a step's samples go there:
//   training.fit(on_device(data.train), {.validation = on_device(data.test)});
// Bytes stay bytes there, and become numbers when a step reads them. The device keeps its copy
// until the last copy of the result ends; keep the result for more than one call. Throws
// castnet::error before anything is trained where the device has no room. On a CPU nothing is
// copied.
template <class Dataset>
data::on_device_set<Dataset> on_device(Dataset data) {
    return data::on_device_set<Dataset>{std::move(data)};
}

} // namespace castnet
