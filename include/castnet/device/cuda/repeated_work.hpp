// Repeated work on a stream: the first time it is enqueued kernel by kernel, so that libraries can
// choose and allocate; the second time it is captured as a graph, and from then on it is one
// launch.
#pragma once

#include <castnet/device/cuda/graph.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace castnet::cuda {

enum class work_kind : std::uint8_t {
    run,
    train,
    compute_with, // other GPUs
    train_with,
    evaluate
};

// Identity of work: pieces with equal keys have equal graphs.
struct work {
    void const* plan;
    work_kind kind;
    bool gathers; // gathers the samples

    friend bool operator==(work const&, work const&) = default;
};

class repeated_work {
public:
    // Puts the work of enqueue() on the stream; the first time prepare() is called before. meet()
    // is called around preparing and capturing, which must not happen while another GPU works.
    template <class Prepare, class Enqueue, class Meet>
    void submit(work const& w, stream const& s, bool use_graphs, Prepare const& prepare,
                Enqueue const& enqueue, Meet const& meet) {
        auto const known =
            std::find_if(known_.begin(), known_.end(), [&](one const& o) { return o.what == w; });
        if (known == known_.end()) {
            meet();
            prepare();
            meet();
            enqueue();
            known_.push_back({w, {}}); // only now: what has failed is prepared again
        } else if (!use_graphs) {
            enqueue();
        } else {
            if (!known->graph) {
                meet();
                known->graph = captured_graph(s, enqueue);
                meet();
            }
            known->graph.launch(s);
        }
    }

    // Destroys the graphs; all work is new again.
    void forget() noexcept { known_.clear(); }

private:
    struct one {
        work what;
        captured_graph graph; // empty until the second time
    };
    std::vector<one> known_;
};

} // namespace castnet::cuda
