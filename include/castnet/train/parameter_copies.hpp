// Copies of a model's parameters on the devices of the other replicas of its process.
#pragma once

#include <castnet/policy/devices.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace castnet {

// They belong to the model: several trainings of it (as for a GAN) may take steps alternately, and
// each starts from the parameters that the last one left. The first replica uses the model's own.
template <class Policy>
class parameter_copies {
    using device = typename Policy::device;

public:
    struct copy {
        copy(devices const& chosen, int replica, std::size_t bytes)
            : session{Policy{}, detail::device_of<Policy>(chosen, replica)}, parameters{bytes} {}
        typename device::session session; // of their device
        typename device::memory parameters;
    };

    // `replicas`: of the process.
    explicit parameter_copies(int replicas) : copies_(static_cast<std::size_t>(replicas) - 1) {}

    // The copy of replica `number`, from 1 on; called in the replica's thread, and made by the
    // first call.
    copy& of(int replica, devices const& chosen, std::size_t bytes) {
        auto& c = copies_[static_cast<std::size_t>(replica) - 1];
        if (!c) {
            c = std::make_unique<copy>(chosen, replica, bytes);
        }
        return *c;
    }

private:
    std::vector<std::unique_ptr<copy>> copies_;
};

} // namespace castnet
