// Several devices on one CPU, each running its stages of a plan on its own thread.
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/device/cpu/thread_team.hpp>

#include <memory>

namespace castnet::inline CASTNET_TARGET {

template <class T, int N>
struct cpu_devices : cpu_device<T> {
    static constexpr int devices = N;

    struct context : cpu_device<T>::context {
        std::unique_ptr<cpu::thread_team> team = std::make_unique<cpu::thread_team>(N);
    };
    using executor = cpu::executor<cpu_devices>;
    static constexpr bool prepares = false;

    // Runs all stages of a plan: those of a device in order, those of different devices in
    // parallel; copies wait for their sources.
    template <auto const& Plan>
    static void run(context const& c) {
        c.team->run([&](int device) {
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
        cpu_device<T>::template run<Plan>(c, after);
    }

private:
    template <auto const& Plan>
    static void run_stage(int i, int repetition, context const& c) {
        if constexpr (cpu::is_small(Plan)) { // every launch is a stage
            static constexpr auto launches =
                small_steps<Plan>(std::make_index_sequence<std::size_t(Plan.sizes.launches)>{});
            launches.of[i](c);
        } else {
            typename cpu_device<T>::context mine = c;
            mine.repetition = repetition;
            cpu_device<T>::template run_stage<Plan>(Plan.stages[i], mine, ir::ignore_launches{});
        }
    }

    template <auto const& Plan, std::size_t... I>
    static constexpr auto small_steps(std::index_sequence<I...>) {
        struct table {
            void (*of[sizeof...(I)])(typename cpu_device<T>::context const&);
        };
        return table{{&cpu_device<T>::template run_small_launch<Plan, int(I)>...}};
    }
};

} // namespace castnet::inline CASTNET_TARGET
