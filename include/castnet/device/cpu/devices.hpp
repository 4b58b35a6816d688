// Several devices on one CPU: each runs its stages of a plan on a thread of its own.
#pragma once

#include <castnet/device/cpu/crew.hpp>
#include <castnet/device/cpu/device.hpp>

#include <memory>

namespace castnet {

template <class T, int N>
struct cpu_devices : cpu_device<T> {
    static constexpr int devices = N;

    struct context : cpu_device<T>::context {
        std::unique_ptr<cpu::crew> crew = std::make_unique<cpu::crew>(N);
    };
    using executor = cpu::executor<cpu_devices>;

    // All stages of a plan: those of a device in their order, those of different devices side by
    // side, but for copies, which wait for what they copy.
    template <auto const& Plan>
    static void run(context const& c) {
        c.crew->run([&](int device) {
            for (int i = 0; i < Plan.sizes.stages; ++i) {
                stage const& s = Plan.stages[i];
                if (s.device == device) {
                    if (s.after >= 0) {
                        c.crew->wait_for(Plan.stages[s.after].device, s.after);
                    }
                    run_stage<Plan>(i, c);
                    c.crew->end(device, i);
                }
            }
        });
    }

    // One stage after the other, for those who look at them.
    template <auto const& Plan, class After>
    static void run(context const& c, After const& after) {
        cpu_device<T>::template run<Plan>(c, after);
    }

private:
    template <auto const& Plan>
    static void run_stage(int i, context const& c) {
        if constexpr (cpu::is_small(Plan)) { // every step is a stage
            static constexpr auto steps =
                small_steps<Plan>(std::make_index_sequence<std::size_t(Plan.sizes.steps)>{});
            steps.of[i](c);
        } else {
            cpu_device<T>::template run_stage<Plan>(Plan.stages[i], c, ignore_steps{});
        }
    }

    template <auto const& Plan, std::size_t... I>
    static constexpr auto small_steps(std::index_sequence<I...>) {
        struct table {
            void (*of[sizeof...(I)])(typename cpu_device<T>::context const&);
        };
        return table{{&cpu_device<T>::template run_small_step<Plan, int(I)>...}};
    }
};

} // namespace castnet
