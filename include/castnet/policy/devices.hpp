// Device selection at run time, devices{…}: the devices of the machine on which a model runs.
#pragma once

#include <castnet/core/error.hpp>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace castnet {

// Numbers of devices as the program sees them (CUDA_VISIBLE_DEVICES), one for each replica:
//   model<network, policy::mirrored<policy::cuda>, batch<32>> m{seed{42}, devices{0, 2}};
// Where several processes of a job share the machine, the first of them takes the first numbers. On
// a CPU only the count of the numbers matters.
class devices {
public:
    devices() = default; // the policy's own
    devices(std::initializer_list<int> numbers) : numbers_{numbers} {}
    explicit devices(std::vector<int> numbers) : numbers_{std::move(numbers)} {}

    int count() const { return static_cast<int>(numbers_.size()); }
    int operator[](int i) const { return numbers_[static_cast<std::size_t>(i)]; }

private:
    std::vector<int> numbers_;
};

namespace detail {

// Optional members of a policy:
//   static constexpr int replicas;         in a process; 0: one for each device
//   static constexpr bool share_a_device;  all replicas of a process do
//   static constexpr int device_index;     the first device
//   static int process_of_machine();       rank among the processes on this machine
template <class Where>
constexpr int fixed_replicas() {
    if constexpr (requires { Where::replicas; }) {
        return Where::replicas;
    } else {
        return 1;
    }
}

// Number of replicas in this process.
template <class Where>
int replicas_here(devices const& chosen) {
    if constexpr (fixed_replicas<Where>() > 0) {
        return fixed_replicas<Where>();
    } else if (chosen.count() > 0) {
        return chosen.count();
    } else {
        int const visible = Where::device::count();
        return visible > 0 ? visible : 1;
    }
}

// The number of a replica's device. Throws castnet::error if the count of chosen devices is not
// that of the policy.
template <class Where>
int device_of(devices const& chosen, int replica) {
    constexpr bool shared = requires { requires Where::share_a_device; };
    int const needed = shared ? 1 : replicas_here<Where>(chosen);
    int const given = chosen.count() > 0 ? chosen.count() : Where::device::count();
    int place = shared ? 0 : replica;
    bool enough = chosen.count() == 0 || chosen.count() == needed;
    if constexpr (requires { Where::process_of_machine(); }) {
        if (given > needed) { // else every process sees its own only
            place += needed * Where::process_of_machine();
            enough = chosen.count() == 0 || place < given;
        }
    }
    if (!enough) {
        throw error({"castnet: the policy runs on ", needed, (needed == 1 ? " device" : " devices"),
                     " in a process, but devices{…} names ", chosen.count()});
    }
    if (chosen.count() > 0) {
        return chosen[place];
    }
    if constexpr (requires { Where::device_index; }) {
        place += Where::device_index;
    }
    return place;
}

} // namespace detail
} // namespace castnet
