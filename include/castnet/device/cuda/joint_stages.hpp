// Stages of a plan for several devices on their streams, in one order for all: what a device reads
// of another one is copied on its own stream, after an event of the other's.
#pragma once

#include <castnet/device/cuda/joint_streams.hpp>
#include <castnet/device/cuda/loop_kernel.hpp>
#include <castnet/device/launches.hpp>
#include <castnet/plan/own_memory.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <vector>

namespace castnet::cuda {

template <class Device, auto const& Plan>
class joint_stages {
    using T = typename Device::value_type;
    using context = typename Device::context;
    static constexpr int devices = Device::devices;
    static constexpr auto const& own = own_memory<Plan>;

public:
    // `contexts`: of each device.
    joint_stages(sessions const& gpus, joint_streams& streams, std::vector<context> const& contexts)
        : gpus_{gpus}, streams_{streams}, contexts_{contexts} {
        for (auto& each : seen_) {
            each.fill(-1);
        }
        for (stage const& g : Plan.stages) {
            if (g.after >= 0) {
                is_awaited_[std::size_t(g.after)] = true;
            }
        }
    }

    // Puts all stages on the streams; calls after(i) for launch i, as run_launches().
    template <class After>
    void run(After const& after) {
        for_each_stage(own, [&](stage const& g, int repetition, int position) {
            gpus_.on(g.device, [&](session const&) {
                if (writes_parameters(g)) {
                    wait_for_readers(g.device);
                }
                auto const& behind = after_launches(g, position, after);
                if (own.launches[g.first].kind == op::copy) {
                    copy(g);
                    behind(g.first);
                } else {
                    enqueue_stage<Device, own_memory<Plan>>(
                        g, repetition, contexts_[std::size_t(g.device)], behind);
                }
                if (is_awaited_[number_of(g)] && is_last_repetition(g, repetition)) {
                    ended_[number_of(g)] = streams_.record(g.device);
                }
            });
        });
    }

    // Before a device changes its parameters: waits for those that copy them, which they do at
    // their begin.
    void wait_for_readers(int device) {
        for (cudaEvent_t& e : readers_[std::size_t(device)]) {
            if (e != nullptr) {
                streams_.of(device).wait_for(e);
                e = nullptr;
            }
        }
    }

private:
    static std::size_t number_of(stage const& g) { return std::size_t(&g - own.stages); }

    // A copy stands alone in its stage.
    static array_ref const& source_of(kernel_launch const& s) { return Plan.arrays[s.first_array]; }
    static int owner_of_source(kernel_launch const& s) {
        return owner_of(Plan.devices, devices, source_of(s));
    }

    static bool writes_parameters(stage const& g) {
        for (int i = g.first; i < g.last; ++i) {
            kernel_launch const& s = Plan.launches[i];
            for (int k = s.output; k < s.output + s.results; ++k) {
                if (Plan.arrays[k].where == region::parameters) {
                    return true;
                }
            }
        }
        return false;
    }

    void copy(stage const& g) {
        kernel_launch const& s = Plan.launches[g.first];
        array_ref const &from = own.arrays[s.first_array], &to = own.arrays[s.output];
        int const source = owner_of_source(s);
        wait_for(g, source);
        auto const count = std::size_t(to.size.count() * (to.size.sample ? Plan.batch : 1));
        copy_between(gpus_, contexts_[std::size_t(source)].at(from), source,
                     contexts_[std::size_t(g.device)].at(to), g.device, count * sizeof(T));
        if (g.after < 0 && is_last_read(g, source)) {
            readers_[std::size_t(source)][std::size_t(g.device)] = streams_.record(g.device);
        }
    }

    // The device of a copy waits for the source, unless it has waited for a later stage there.
    void wait_for(stage const& g, int source) {
        int& seen = seen_[std::size_t(g.device)][std::size_t(source)];
        if (g.after > seen) {
            streams_.of(g.device).wait_for(ended_[std::size_t(g.after)]);
            seen = g.after;
        }
    }
    // Whether the device copies no other parameter of that source later.
    static bool is_last_read(stage const& g, int source) {
        for (std::size_t i = number_of(g) + 1; i < std::size(Plan.stages); ++i) {
            stage const& other = Plan.stages[i];
            kernel_launch const& s = Plan.launches[other.first];
            if (s.kind == op::copy && other.device == g.device && other.after < 0 &&
                owner_of_source(s) == source) {
                return false;
            }
        }
        return true;
    }

    sessions const& gpus_;
    joint_streams& streams_;
    std::vector<context> const& contexts_;
    std::array<bool, std::size(Plan.stages)> is_awaited_{};
    std::array<cudaEvent_t, std::size(Plan.stages)> ended_{};
    std::array<std::array<int, devices>, devices> seen_;              // by reader and source
    std::array<std::array<cudaEvent_t, devices>, devices> readers_{}; // of the parameters of each
};

} // namespace castnet::cuda
