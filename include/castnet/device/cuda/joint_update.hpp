// Update of the parameters on several GPUs: each updates its own, by the norm of all gradients.
#pragma once

#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/joint_buffer.hpp>
#include <castnet/device/cuda/joint_streams.hpp>
#include <castnet/device/cuda/penalized_ranges.hpp>
#include <castnet/device/cuda/sessions.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/optim/optimizer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace castnet::cuda {

template <class Device>
class joint_update {
    static constexpr int devices = Device::devices;
    using T = typename Device::value_type;
    using context = typename Device::context;
    using contexts = std::vector<context>; // of each device

public:
    joint_update(sessions const& gpus, joint_streams& streams,
                 std::array<executor_sizes, std::size_t(devices)> const& each)
        : gpus_{gpus}, streams_{streams} {
        for (executor_sizes const& z : each) {
            trained_.push_back(z.gradients);
        }
    }

    // Sets the groups of the plan's parameters (plan/penalties.hpp). Waits for the GPUs.
    template <auto const& Plan>
    void set_groups(std::span<update_group const> groups) {
        groups_.assign(groups.begin(), groups.end());
        allocate_penalties<Plan>();
        gpus_.wait();
        for (int d = 0; d < devices; ++d) {
            if (trained_on(d) > 0) {
                gpus_.on(d, [&](session const& here) { write_penalties<Plan>(d, here); });
            }
        }
    }

    // Allocates what the functions below need of the GPUs' memory.
    template <auto const& Plan, class Rule>
    void allocate() {
        allocate_penalties<Plan>();
        for (int d = 0; d < devices && NeedsNorm<Rule>; ++d) {
            norm_sums(d);
        }
    }

    // The sum of squares of all gradients, with penalties; waits for the GPUs.
    template <auto const& Plan>
    double squares(contexts const& on, T scale) {
        allocate_penalties<Plan>();
        gpus_.wait();
        double sum = 0;
        for (int d = 0; d < devices; ++d) {
            double* const sums = norm_sums(d);
            gpus_.on(d, [&](session const& here) {
                T* const factor = reinterpret_cast<T*>(sums + norm_elements + devices);
                here.write(factor, 1, [&](T* to) { *to = scale; });
                sum_squares<Plan>(on[std::size_t(d)], d, factor);
                here.read(sums, 1, [&](double const* from) { sum += *from; });
            });
        }
        return sum;
    }

    // Sets the norm of the rule in a step's buffer: every device gets the sums of all, and adds
    // them up.
    template <auto const& Plan, class Rule>
    void find_norm(joint_buffer<context> const& step) {
        cudaEvent_t summed[devices];
        for (int d = 0; d < devices; ++d) {
            gpus_.on(d, [&](session const&) {
                sum_squares<Plan>(step.contexts[std::size_t(d)], d,
                                  &step.template values<Rule>(d)->scale);
            });
            summed[d] = streams_.record(d);
        }
        for (int d = 0; d < devices; ++d) {
            gpus_.on(d, [&](session const&) {
                double* const all = norm_sums(d) + norm_elements;
                for (int from = 0; from < devices; ++from) {
                    streams_.of(d).wait_for(summed[from]);
                    copy_between(gpus_, norm_sums(from), from, all + from, d, sizeof(double));
                }
                launch(step.contexts[std::size_t(d)],
                       norm_call(step.template values<Rule>(d), all, devices));
            });
        }
    }

    // Updates the parameters of a device, which is the current one.
    template <auto const& Plan, int Slots, class Rule>
    void update(int device, context const& c, update_values<Rule, T> const* values) const {
        std::ptrdiff_t const count = trained_on(device);
        if (count == 0) {
            return;
        }
        T* const gradients = c.region[int(region::gradients)];
        std::ptrdiff_t const groups = count / lanes_of<T>;
        launch(c, kernel_call<optimize_body<Rule, Slots, T>>{grid_for(groups),
                                                             {values,
                                                              penalties(device),
                                                              c.region[int(region::parameters)],
                                                              {gradients},
                                                              gradients + count,
                                                              count,
                                                              groups}});
    }

private:
    std::ptrdiff_t trained_on(int device) const { return trained_[std::size_t(device)]; }

    template <class Body>
    static void launch(context const& c, kernel_call<Body> const& call) {
        c.launch(call.where, call.body);
    }

    // The sum of squares of the device's gradients, to the first of norm_sums().
    template <auto const& Plan>
    void sum_squares(context const& c, int device, T const* scale) {
        if (std::ptrdiff_t const count = trained_on(device); count > 0) {
            launch(c, squares_call<Device, Plan>(c, scale, penalties(device), norm_sums(device), 0,
                                                 count));
        }
    }

    // Of the device's parameters, by their places there.
    template <auto const& Plan>
    std::vector<penalized_range> penalties_of(int device) const {
        element_range const mine = Plan.devices[device].trained;
        std::ptrdiff_t const last = mine.offset + mine.count;
        std::vector<penalized_range> own;
        std::ptrdiff_t begin = 0;
        for (penalized_range r : penalized_ranges(Plan, groups_)) {
            std::ptrdiff_t const end = std::exchange(begin, r.end);
            if (std::max(end, mine.offset) < std::min(r.end, last)) {
                r.end = std::min(r.end, last) - mine.offset;
                own.push_back(r);
            }
        }
        return own;
    }
    template <auto const& Plan>
    void write_penalties(int device, session const& here) {
        write_ranges(penalties_of<Plan>(device), penalties_[device], here);
    }
    template <auto const& Plan>
    void allocate_penalties() {
        for (int d = 0; d < devices; ++d) {
            if (penalties_[d].bytes() == 0 && trained_on(d) > 0) {
                // with room for a range for each parameter
                std::size_t const most = std::size(Plan.parameters) + 1;
                penalties_[d] = gpus_.allocate(d, most * sizeof(penalized_range), "penalties");
                write_penalties<Plan>(d, gpus_[d]);
            }
        }
    }
    penalized_range const* penalties(int device) const {
        return penalties_[device].template as<penalized_range>();
    }

    // The device's sum of squares and its parts; after them the sums of all devices, and the scale
    // of the gradients.
    double* norm_sums(int device) {
        memory& here = norm_sums_[device];
        if (here.bytes() == 0) {
            here = gpus_.allocate(device,
                                  std::size_t(norm_elements + devices) * sizeof(double) + sizeof(T),
                                  "the norm of the gradient");
        }
        return here.template as<double>();
    }

    sessions const& gpus_;
    joint_streams& streams_;
    std::vector<std::ptrdiff_t> trained_; // numbers of each device
    std::vector<update_group> groups_;    // see set_groups(); none at first
    memory penalties_[devices], norm_sums_[devices];
};

} // namespace castnet::cuda
