// Autotuning: search for the fastest of several pieces of work on a GPU.
#pragma once

#include <castnet/device/cuda/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace castnet::cuda {

// Index of the fastest of `count` candidates; run(i) enqueues candidate i. Each is timed as a
// graph, as in a training step, and interleaved with the others, since a GPU's clock rate changes.
// Candidates that throw castnet::error are skipped; empty if none is left. Ties go to the first.
// Throws castnet::error if the GPU itself has failed.
template <class Run>
std::optional<std::size_t> fastest(stream const& s, std::size_t count, Run const& run) {
    constexpr int rounds = 10, runs = 4; // per candidate, and per round
    constexpr double enough = 20;        // milliseconds per candidate
    struct contestant {
        captured_graph graph;
        double best = std::numeric_limits<double>::infinity();
        double all = 0;
    };
    std::vector<contestant> contestants(count);
    for (std::size_t i = 0; i < count; ++i) {
        try {
            run(i); // loads its code, which must not happen in a capture
            s.wait();
            contestants[i].graph = captured_graph(s, [&] {
                for (int n = 0; n < runs; ++n) {
                    run(i);
                }
            });
        } catch (error const&) {
            s.wait(); // throws if not the candidate but the GPU has failed
        }
    }
    event const begin{event_time::known}, end{event_time::known};
    for (int i = 0; i < rounds; ++i) {
        for (contestant& c : contestants) {
            if (c.graph && c.all < enough) {
                s.record(begin);
                c.graph.launch(s);
                s.record(end);
                end.wait();
                double const passed = end.milliseconds_since(begin);
                c.best = std::min(c.best, passed);
                c.all += passed;
            }
        }
    }
    auto const first =
        std::min_element(contestants.begin(), contestants.end(),
                         [](auto const& a, auto const& b) { return a.best < b.best; });
    if (first == contestants.end() || !first->graph) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(first - contestants.begin());
}

} // namespace castnet::cuda
