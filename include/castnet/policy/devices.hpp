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

// The error that so many devices are chosen and others are needed.
[[gnu::cold]] inline error wrong_count_of_devices(int needed, int chosen) {
    return error({"castnet: the policy runs on ", needed, (needed == 1 ? " device" : " devices"),
                  " in a process, but devices{…} names ", chosen});
}

// The device of a replica that has one.
template <class Where>
int single_device_of(devices const& chosen, int replica) {
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
        throw wrong_count_of_devices(needed, chosen.count());
    }
    if (chosen.count() > 0) {
        return chosen[place];
    }
    if constexpr (requires { Where::device_index; }) {
        place += Where::device_index;
    }
    return place;
}

// The numbers of the devices of a policy whose network lies on several, each with a memory of its
// own.
template <class Where>
std::vector<int> devices_of_network(devices const& chosen) {
    constexpr int needed = Where::device::devices;
    if (chosen.count() != 0 && chosen.count() != needed) {
        throw wrong_count_of_devices(needed, chosen.count());
    }
    std::vector<int> numbers;
    for (int d = 0; d < needed; ++d) {
        numbers.push_back(chosen.count() > 0 ? chosen[d] : Where::device_index + d);
    }
    return numbers;
}

// The number of a replica's device; or of all of them, where it has several with memories of their
// own. Throws castnet::error if the count of chosen devices is not that of the policy.
template <class Where>
auto device_of(devices const& chosen, int replica) {
    if constexpr (requires { requires Where::device::has_memories; }) {
        return devices_of_network<Where>(chosen);
    } else {
        return single_device_of<Where>(chosen, replica);
    }
}

} // namespace detail
} // namespace castnet
