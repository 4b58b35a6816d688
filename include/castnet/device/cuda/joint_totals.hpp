// Totals of loss and metrics on several GPUs: each adds up those of the outputs that it computes.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/sessions.hpp>
#include <castnet/plan/own_memory.hpp>

#include <cstddef>
#include <vector>

namespace castnet::cuda {

template <class Device>
class joint_totals {
    static constexpr int devices = Device::devices;
    using T = typename Device::value_type;
    using context = typename Device::context;

public:
    explicit joint_totals(sessions const& gpus) : gpus_{gpus} {}

    // Where a device has its totals.
    void set_memory(int device, double* totals) { totals_[device] = totals; }

    // Finds the devices that compute the plan's outputs.
    template <auto const& Plan>
    void set_owners() {
        owners_.clear();
        for (int i = 0; i < Plan.sizes.outputs; ++i) {
            owners_.insert(owners_.end(), std::size_t(Plan.outputs[i].size.count()),
                           owner_of_output<Plan>(i));
        }
    }

    // Adds the outputs of a plan that this device computes, which is the current one.
    template <auto const& Plan>
    void add(int device, context const& c) const {
        static_assert(Plan.sizes.outputs <= max_results,
                      "castnet: policy::cuda sums the loss and at most 31 metrics");
        add_totals_body<T> body{{}, {}, totals_[device], 0};
        int results = 0;
        for (int i = 0; i < Plan.sizes.outputs; ++i) {
            if (owner_of_output<Plan>(i) == device) {
                body.results[results] = c.at(own_memory<Plan>.outputs[i]);
                body.count += Plan.outputs[i].size.count();
                body.end[results++] = body.count;
            }
        }
        if (body.count > 0) {
            c.launch(grid_for(body.count), body);
        }
    }

    // Reads and sets the totals of all outputs. Both wait for the GPUs.
    void read(double* to, std::size_t count) const {
        for (int d = 0; d < devices; ++d) {
            gpus_.read(on(d), std::ptrdiff_t(count), [&](double const* from) {
                for (std::size_t i = 0; i < count; ++i) {
                    if (owners_[i] == d) {
                        to[i] = *from++;
                    }
                }
            });
        }
    }
    void set(double const* from, std::size_t count) {
        for (int d = 0; d < devices; ++d) {
            gpus_.write(on(d), std::ptrdiff_t(count), [&](double* to) {
                for (std::size_t i = 0; i < count; ++i) {
                    if (owners_[i] == d) {
                        *to++ = from[i];
                    }
                }
            });
        }
    }

private:
    template <auto const& Plan>
    static constexpr int owner_of_output(int i) {
        return owner_of(Plan.devices, devices, Plan.outputs[i]);
    }
    placed<double> on(int device) const { return {totals_[device], device}; }

    sessions const& gpus_;
    double* totals_[devices] = {};
    std::vector<int> owners_; // of each number of the outputs
};

} // namespace castnet::cuda
