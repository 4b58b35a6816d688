// Streams of several GPUs in one step: all of them fork from the first one's stream and join it
// again, so that a capture of that stream has the work of all.
#pragma once

#include <castnet/device/cuda/sessions.hpp>
#include <castnet/device/cuda/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace castnet::cuda {

// Events by which streams wait for each other; each recording in a step has one of its own, which
// is the same in every step.
class joint_streams {
public:
    explicit joint_streams(sessions const& gpus)
        : gpus_{gpus}, events_(std::size_t(gpus.count())), used_(std::size_t(gpus.count()), 0) {}

    stream const& of(int device) const { return gpus_[device].compute(); }

    // The begin of a step; its end.
    void fork() {
        std::fill(used_.begin(), used_.end(), std::size_t{0});
        cudaEvent_t const begin = record(0);
        for (int d = 1; d < gpus_.count(); ++d) {
            of(d).wait_for(begin);
        }
    }
    void join() {
        for (int d = 1; d < gpus_.count(); ++d) {
            of(0).wait_for(record(d));
        }
        gpus_[0].use();
    }

    // Marks the work of a device so far.
    cudaEvent_t record(int device) {
        auto& all = events_[std::size_t(device)];
        std::size_t const number = used_[std::size_t(device)]++;
        if (number == all.size()) {
            gpus_.on(device, [&](session const&) { all.emplace_back(); });
        }
        of(device).record(all[number]);
        return all[number].get();
    }

private:
    sessions const& gpus_;
    std::vector<std::vector<event>> events_; // of each device
    std::vector<std::size_t> used_;          // in this step
};

} // namespace castnet::cuda
