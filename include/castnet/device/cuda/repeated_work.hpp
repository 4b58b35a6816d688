// Work that comes again and again, always the same: the first time it is put on the stream piece by
// piece, which lets libraries choose and allocate; the second time it is captured as a graph, and
// from then on it is one launch.
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

// What makes one work another one.
struct work {
    void const* plan;
    work_kind kind;
    bool gathers; // the samples

    friend bool operator==(work const&, work const&) = default;
};

class repeated_work {
public:
    // Puts on the stream what enqueue() puts there. The first time prepare() comes before. meet()
    // is called around what must not happen while another GPU works: preparing and capturing.
    template <class Prepare, class Enqueue, class Meet>
    void submit(work const& w, stream const& s, bool use_graphs, Prepare const& prepare,
                Enqueue const& enqueue, Meet const& meet) {
        auto const known =
            std::find_if(known_.begin(), known_.end(), [&](one const& o) { return o.what == w; });
        if (known == known_.end()) {
            known_.push_back({w, {}});
            meet();
            prepare();
            meet();
            enqueue();
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

private:
    struct one {
        work what;
        captured_graph graph; // empty until the second time
    };
    std::vector<one> known_;
};

} // namespace castnet::cuda
