// Several devices on one CPU, each running its stages of a plan on its own thread.
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/device/cpu/thread_team.hpp>

#include <memory>

namespace castnet::inline CASTNET_TARGET {

// Device: a cpu_device.
template <class Device, int N>
struct cpu_devices : Device {
    static constexpr int devices = N;

    struct context : Device::context {
        std::unique_ptr<cpu::thread_team> team = std::make_unique<cpu::thread_team>(N);
    };
    using executor = cpu::executor<cpu_devices>;
    static constexpr bool prepares = false;
    static constexpr bool keeps_batch = false; // its devices do not wait for each other

    // Runs all stages of a plan: those of a device in order, those of different devices in
    // parallel; copies wait for their sources.
    template <auto const& Plan>
    static void run(context const& c) {
        c.team->run([&](int device) {
            cpu::flush_denormals const here;
            ir::for_each_stage(Plan, [&](ir::stage const& s, int repetition, int) {
                if (s.device == device) {
                    if (s.after >= 0) {
                        c.team->wait_for(Plan.stages[s.after].device, s.after);
                    }
                    int const i = static_cast<int>(&s - Plan.stages);
                    run_stage<Plan>(i, repetition, c);
                    if (ir::is_last_repetition(s, repetition)) {
                        c.team->end(device, i);
                    }
                }
            });
        });
    }

    // Runs one stage after the other, for observers of single stages.
    template <auto const& Plan, class After>
    static void run(context const& c, After const& after) {
        Device::template run<Plan>(c, after);
    }

private:
    template <auto const& Plan>
    static void run_stage(int i, int repetition, context const& c) {
        if constexpr (cpu::is_small(Plan)) { // every launch is a stage
            static constexpr auto launches =
                small_steps<Plan>(std::make_index_sequence<std::size_t(Plan.sizes.launches)>{});
            launches.of[i](c);
        } else {
            typename Device::context mine = c;
            mine.repetition = repetition;
            Device::template run_stage<Plan>(Plan.stages[i], mine, ir::ignore_launches{});
        }
    }

    template <auto const& Plan, std::size_t... I>
    static constexpr auto small_steps(std::index_sequence<I...>) {
        struct table {
            void (*of[sizeof...(I)])(typename Device::context const&);
        };
        return table{{&Device::template run_small_launch<Plan, int(I)>...}};
    }
};

} // namespace castnet::inline CASTNET_TARGET
