// Executor of plans for several devices on several GPUs: each stage runs on the stream of its
// device, in the device's own memory, and copies wait there for their sources. The host waits for
// nothing within a step, and the steps of all GPUs are one graph, where these are peers.
#pragma once

#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/gradients.hpp>
#include <castnet/device/cuda/joint_buffer.hpp>
#include <castnet/device/cuda/joint_stages.hpp>
#include <castnet/device/cuda/joint_streams.hpp>
#include <castnet/device/cuda/joint_totals.hpp>
#include <castnet/device/cuda/joint_update.hpp>
#include <castnet/device/cuda/kept_statistics.hpp>
#include <castnet/device/cuda/numbering.hpp>
#include <castnet/device/cuda/sessions.hpp>
#include <castnet/device/cuda/step_memory.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/launches.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/own_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace castnet::cuda {

// A class, so that every compiler prints the sentence only.
template <class Rule>
struct joint_rule {
    static_assert(
        !ByParameter<Rule>,
        "castnet: cn::lamb, cn::muon and cn::clip_each_norm update whole parameters, which "
        "policy::model_parallel on GPUs does not: take cn::adamw and cn::clip_norm");
    static constexpr bool checked = true;
};

template <class Device>
class joint_executor {
    static constexpr int devices = Device::devices;
    using T = typename Device::value_type;
    using context = typename Device::context;
    using buffer = joint_buffer<context>;
    using sizes = std::array<executor_sizes, std::size_t(devices)>;
    using step_memory = cuda::step_memory<context>;

public:
    // Of all GPUs.
    static constexpr std::size_t bytes(sizes const& each) {
        std::size_t sum = 0;
        for (executor_sizes const& z : each) {
            sum += step_memory::bytes(z, buffer::bytes(z));
        }
        return sum;
    }

    joint_executor(sessions const& gpus, divided<T> const& parameters, philox_key key,
                   sizes const& each)
        : gpus_{gpus}, streams_{gpus}, sizes_{each}, update_{gpus, streams_, each}, totals_{gpus} {
        std::ptrdiff_t end_of_workspace = 0;
        for (int d = 0; d < devices; ++d) {
            executor_sizes const& z = each[std::size_t(d)];
            gpus.on(d, [&](session const& here) {
                memories_.emplace_back(here, begin_on(d, parameters), key, z, buffer::bytes(z));
            });
            totals_.set_memory(d, memories_.back().totals());
            add_gradients(d);
            workspaces_[d].workspace = {region::workspace, end_of_workspace, z.workspace};
            end_of_workspace += z.workspace;
        }
        std::sort(gradients_.begin(), gradients_.end(),
                  [](auto const& a, auto const& b) { return a.first < b.first; });
        buffers_.reserve(step_memory::buffers);
        for (int i = 0; i < step_memory::buffers; ++i) {
            std::vector<char*> on_gpus;
            std::vector<context> rest;
            for (step_memory const& m : memories_) {
                on_gpus.push_back(m.buffer(i));
                rest.push_back(m.context());
            }
            buffers_.emplace_back(each[0], on_gpus, std::move(rest), gpus);
        }
        next_ = last_ = &buffers_[0];
    }
    ~joint_executor() { gpus_.finish(); }
    joint_executor(joint_executor const&) = delete;
    joint_executor& operator=(joint_executor const&) = delete;

    std::size_t allocated_bytes() const { return bytes(sizes_); }

    // As of executor. The budget is of all GPUs together.
    template <class Rule, auto const&... Plan>
    void prepare(std::size_t parameter_bytes) {
        (..., totals_.template set_owners<Plan>()); // the same for training and evaluation
        std::size_t workspace = 0;
        for (int d = 0; d < devices; ++d) {
            gpus_.on(d, [&](session const& here) {
                (..., choose<Plan>(d));
                workspace += here.library().workspace_bytes();
            });
        }
        std::size_t const planned = parameter_bytes + allocated_bytes();
        if (planned + workspace > gpus_[0].budget()) {
            throw error({"castnet: policy::memory_limit allows ", gpus_[0].budget(),
                         " bytes, but parameters and training take ", planned,
                         ", and the workspaces of cuDNN and cuBLASLt ", workspace,
                         "; allow more, or use a smaller batch"});
        }
        for (int d = 0; d < devices; ++d) {
            gpus_.on(d, [](session const& here) { here.library().reserve(); });
        }
    }

    // Addresses in the GPUs' memory, as of the last run, or of an executor of a single plan; of
    // gradients with the optimizer's state.
    divided<T> at(region) const { return {gradients_}; }
    placed<T> at(array_ref r) const {
        int const d = owner_of(last_devices_, devices, r);
        r.offset = offset_in_own_memory(last_devices_[d], r);
        return {last_->contexts[std::size_t(d)].at(r), d};
    }

    // Host memory for region::batch of the next run.
    T* batch() { return next_->batch(); }

    // Number of the batch's first sample in its step.
    void set_first_sample(std::uint32_t first) { first_sample_ = first; }

    // Runs a plan over the batch; `step` selects dropout's random numbers.
    template <auto const& Plan>
    void run(std::ptrdiff_t, std::uint64_t step) {
        submit<Plan>(work_kind::run, step, [](auto&) {});
    }
    // Runs the launches one at a time; calls after(i) when launch i has ended.
    template <auto const& Plan, class After>
    void run(std::ptrdiff_t, std::uint64_t step, After const& after) {
        send<Plan>(step);
        prepare_libraries<Plan>();
        streams_.fork();
        joint_stages<Device, Plan> stages{gpus_, streams_, next_->contexts};
        stages.run([&](int i) {
            gpus_.wait();
            after(i);
        });
        streams_.join();
        swap_buffers<Plan>();
    }

    // As of joint_update.
    template <auto const& Plan>
    void set_groups(std::span<update_group const> groups) {
        update_.template set_groups<Plan>(groups);
    }
    template <auto const& Plan>
    double squares(T scale, std::ptrdiff_t, std::ptrdiff_t) {
        return update_.template squares<Plan>(last_->contexts, scale);
    }

    // Applies the optimizer's rule to all parameters; gradients are multiplied with `scale`.
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        static_assert(joint_rule<Rule>::checked);
        update_values<Rule, T> const values{rule, scale};
        update_.template allocate<Plan, Rule>();
        behind_last_run([&](int d, session const&, context const& c) {
            auto* const to = last_->template values<Rule>(d);
            auto const set = set_values_call(values, to);
            c.launch(set.where, set.body);
            update_.template update<Plan, Slots>(d, c, to);
        });
    }

    // Adds the outputs of a plan's last run to the totals.
    template <auto const& Plan>
    void add_totals() {
        behind_last_run(
            [&](int d, session const&, context const& c) { totals_.template add<Plan>(d, c); });
    }

    // Adds all gradients to others that are kept `place` elements after them, unless they are the
    // first ones, for the last batch of a step; which takes them, and leaves zeros.
    void keep_gradients(std::ptrdiff_t place, element_range const& all, bool are_first) {
        behind_last_run([&](int d, session const&, context const& c) {
            T* const from = c.region[int(region::gradients)];
            std::ptrdiff_t const count = trained_on(d);
            launch(c, keep_body<T>{from, from + place / all.count * count, count, are_first});
        });
    }
    void take_kept(std::ptrdiff_t place, element_range const& all) {
        behind_last_run([&](int d, session const&, context const& c) {
            T* const to = c.region[int(region::gradients)];
            std::ptrdiff_t const count = trained_on(d);
            launch(c, take_kept_body<T>{to, to + place / all.count * count, count});
        });
    }

    // As of executor.
    template <auto const& Plan>
    void keep_statistics() {
        visit_statistics<Plan>([&]<class N>(context const& c, N* values, N* kept, auto count) {
            launch(c, keep_body<N>{values, kept, count, true});
        });
    }
    template <auto const& Plan>
    void bring_back_statistics() {
        visit_statistics<Plan>([&]<class N>(context const& c, N* values, N* kept, auto count) {
            launch(c, keep_body<N>{kept, values, count, true});
        });
    }

    // A whole training step in one launch.
    template <auto const& Plan, int Slots, class Rule>
    void train(std::ptrdiff_t, std::uint64_t step, Rule const& rule, T scale) {
        static_assert(joint_rule<Rule>::checked);
        next_->set(update_values<Rule, T>{rule, scale});
        update_.template allocate<Plan, Rule>();
        submit<Plan>(work_kind::train, step, [&](auto& stages) {
            if constexpr (NeedsNorm<Rule>) {
                update_.template find_norm<Plan, Rule>(*next_);
            }
            for (int d = 0; d < devices; ++d) {
                gpus_.on(d, [&](session const&) {
                    context const& c = next_->contexts[std::size_t(d)];
                    stages.wait_for_readers(d);
                    update_.template update<Plan, Slots>(d, c, next_->template values<Rule>(d));
                    totals_.template add<Plan>(d, c);
                });
            }
        });
    }
    template <auto const& Plan>
    void evaluate(std::ptrdiff_t, std::uint64_t batch) {
        submit<Plan>(work_kind::evaluate, batch, [&](auto&) {
            for (int d = 0; d < devices; ++d) {
                gpus_.on(d, [&](session const&) {
                    totals_.template add<Plan>(d, next_->contexts[std::size_t(d)]);
                });
            }
        });
    }

    // Reads and sets the totals. Both wait for the GPUs.
    void read_totals(double* to, std::size_t count) const { totals_.read(to, count); }
    void set_totals(double const* from, std::size_t count) { totals_.set(from, count); }

private:
    template <auto const& Plan, class Copy>
    void visit_statistics(Copy const& copy) {
        behind_last_run([&](int d, session const& here, context const& c) {
            kept_[d].template visit<Plan>(
                here, d, c.region[int(region::parameters)], memories_[std::size_t(d)].totals(),
                [&](auto* values, auto* kept, std::ptrdiff_t n) { copy(c, values, kept, n); });
        });
    }

    // The device's parameters; nullptr if there are none.
    static T* begin_on(int device, divided<T> const& parameters) {
        T* begin = nullptr;
        for (piece<T> const& p : parameters.pieces()) {
            bool const first = begin == nullptr || p.where.at < begin;
            begin = p.where.device == device && first ? p.where.at : begin;
        }
        return begin;
    }
    // The gradients of all devices one after the other, then so the slots of the optimizer.
    void add_gradients(int device) {
        std::ptrdiff_t all = 0, before = 0;
        for (int d = 0; d < devices; ++d) {
            before += d < device ? trained_on(d) : 0;
            all += trained_on(d);
        }
        std::ptrdiff_t const count = trained_on(device);
        T* const begin = memories_[std::size_t(device)].context().region[int(region::gradients)];
        std::ptrdiff_t const end = count + sizes_[std::size_t(device)].state;
        for (std::ptrdiff_t k = 0; count > 0 && k < end / count; ++k) {
            gradients_.push_back({k * all + before, count, {begin + k * count, device}});
        }
    }
    std::ptrdiff_t trained_on(int device) const { return sizes_[std::size_t(device)].gradients; }

    template <auto const& Plan>
    void choose(int device) const {
        context c = next_->contexts[std::size_t(device)];
        c.samples = Plan.batch;
        Device::template prepare<Plan>(c, device);
    }
    template <auto const& Plan>
    void prepare_libraries() const {
        for (int d = 0; d < devices; ++d) {
            gpus_.on(d, [&](session const& here) {
                choose<Plan>(d);
                here.library().reserve();
            });
        }
    }

    template <auto const& Plan>
    void send(std::uint64_t step) {
        static_assert(arrays_have_numbers<Plan>::checked);
        next_->template send<Plan>({static_cast<std::uint32_t>(step), first_sample_});
    }
    template <auto const& Plan>
    void swap_buffers() {
        next_->end();
        last_ = next_;
        last_devices_ = Plan.devices;
        next_ = next_ == &buffers_[0] ? &buffers_[1] : &buffers_[0];
    }

    // All stages of the plan, and what then(stages) puts on the streams after them.
    template <auto const& Plan, class Then>
    void submit(work_kind kind, std::uint64_t step, Then const& then) {
        send<Plan>(step);
        gpus_[0].use(); // whose stream the graph is launched on
        next_->known.submit(
            {&Plan, kind, false}, streams_.of(0), gpus_.use_graphs(),
            [&] { prepare_libraries<Plan>(); },
            [&] {
                streams_.fork();
                joint_stages<Device, Plan> stages{gpus_, streams_, next_->contexts};
                stages.run(ignore_launches{});
                then(stages);
                streams_.join();
            },
            [] {});
        swap_buffers<Plan>();
    }
    // Calls f(device, session, context) for each device.
    template <class F>
    void behind_last_run(F const& f) {
        streams_.fork();
        for (int d = 0; d < devices; ++d) {
            gpus_.on(d, [&](session const& here) { f(d, here, last_->contexts[std::size_t(d)]); });
        }
        streams_.join();
        last_->end();
    }

    template <class Body>
    static void launch(context const& c, Body const& body) {
        if (body.count > 0) {
            c.launch(grid_for(body.count), body);
        }
    }

    sessions const& gpus_;
    joint_streams streams_;
    sizes sizes_;
    std::vector<step_memory> memories_; // of each GPU
    joint_update<Device> update_;
    std::vector<piece<T>> gradients_;
    joint_totals<Device> totals_;
    kept_statistics<T> kept_[devices];
    std::vector<buffer> buffers_;
    std::uint32_t first_sample_ = 0;
    buffer* next_;                                    // for the next run
    buffer* last_;                                    // of the last run
    device_memory workspaces_[devices];               // of a single plan
    device_memory const* last_devices_ = workspaces_; // of the last run's plan
};

} // namespace castnet::cuda
