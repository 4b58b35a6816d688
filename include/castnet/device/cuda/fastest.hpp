// Search for the piece of work that takes a GPU the least time.
#pragma once

#include <castnet/device/cuda/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace castnet::cuda {

// run(i) puts piece i on the stream, for every i below `count`. Each is timed as a graph, as steps
// run it, and in turns with the others, since a GPU's clock changes. What throws castnet::error
// takes no part; empty if nothing is left. Of equals the first.
template <class Run>
std::optional<std::size_t> fastest(stream const& s, std::size_t count, Run const& run) {
    constexpr int rounds = 10, runs = 4; // of each piece, and in each round
    constexpr double enough = 20;        // milliseconds for a piece
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
        }
    }
    event const begin{event_time::known}, end{event_time::known};
    for (int round = 0; round < rounds; ++round) {
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
