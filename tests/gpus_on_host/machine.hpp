// A machine with several GPUs, simulated on the host: streams, events and captured graphs, which
// the simulated CUDA runtime (cuda_runtime.cpp) and NCCL (nccl.cpp) put work on.
//
// Nothing runs when it is put on a stream, but when the host waits or asks; of all that could run
// then, a random piece does. So everything that no stream order, event or collective rules out
// happens sooner or later, and what relies on luck fails.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace machine {

// Failure of one call among those that ask, or of that and all later ones.
class fault {
public:
    void clear() { set(0, false); }
    // Of the next call (1), the one after it (2), …; `stays`: and of all that follow.
    void set(std::uint64_t call, bool stays = false) {
        left_ = call;
        stays_ = stays;
        has_struck_ = false;
        calls_ = 0;
    }
    // Asked by every call.
    bool strikes() {
        ++calls_;
        std::uint64_t left = left_;
        while (left != 0 && !left_.compare_exchange_weak(left, left - 1)) {
        }
        bool const now = left == 1 || (stays_ && has_struck_);
        has_struck_ = has_struck_ || now;
        return now;
    }
    bool has_struck() const { return has_struck_; }
    std::uint64_t calls() const { return calls_; } // since it was set

private:
    std::atomic<std::uint64_t> left_{0}, calls_{0};
    std::atomic<bool> stays_{false}, has_struck_{false};
};

// A piece of work: it is given a number when it is put on a stream, by itself or in a launch of a
// graph; it runs when it may, and is over then.
struct work {
    std::function<std::uint64_t()> number = [] { return 0; };
    std::function<bool(std::uint64_t)> may_run = [](std::uint64_t) { return true; };
    std::function<void()> run = [] {};
};

struct graph {
    struct node {
        work what;
        std::vector<std::size_t> after;
    };
    std::vector<node> nodes;
    std::set<void const*> holds; // communicators of its collectives
    bool is_invalid = false;     // something was done while it was captured that must not be
};

// A graph that can be launched. What it needs on the GPU is allocated when it is uploaded, or else
// by the first launch.
struct executable {
    std::shared_ptr<graph const> of;
    bool is_uploaded = false;
};

// A launch of a graph, of which some nodes have run.
struct launch {
    std::shared_ptr<graph const> of;
    std::vector<std::uint64_t> numbers;
    std::vector<bool> done;
    std::size_t left;
};

struct stream {
    struct item {
        work what;
        std::uint64_t number;
        std::shared_ptr<launch> graph; // instead
    };
    int device = 0;
    std::deque<item> queue;
    std::shared_ptr<graph> captures;
    std::vector<std::size_t> last; // nodes that the next one of the capture comes after
};

struct event {
    int device = 0;
    bool knows_time = false;
    double time = 0; // of the record that was done last
    std::uint64_t recorded = 0, done = 0;
    std::shared_ptr<graph> captured; // where it was recorded last
    std::vector<std::size_t> nodes;
};

struct block { // of a GPU's memory
    std::size_t bytes;
    int device;
};

struct state {
    std::recursive_mutex mutex;
    std::vector<stream*> streams;
    std::map<char const*, block> blocks;
    std::set<std::shared_ptr<graph> const*> graphs;
    std::set<executable const*> executables;
    std::uint64_t random = 1; // not 0
    int devices = 4;
    bool is_full = false;    // no GPU has memory left
    int full = -1;           // this GPU has none
    bool has_peers = true;   // GPUs copy from each other directly
    bool reads_late = false; // copies read all memory of the host when the stream comes to them, as
                             // they may where GPUs access that of processes (HMM, ATS)
    std::set<std::pair<int, int>> peers; // that do: the one whose work it is, and the other
    std::uint64_t peer_copies = 0,
                  waits = 0; // put on streams: copies between GPUs, and waits for events
    bool reports_at_capture_end = false; // an error of earlier work, though there is a graph
    double clock = 0;                    // milliseconds; work that takes time advances it
    std::uint64_t launches = 0, captured_nodes = 0;
    std::uint64_t launches_that_allocate = 0; // may wait for all GPUs
    fault calls;                              // of CUDA, and launches of kernels

    std::size_t choose(std::size_t count) { // xorshift
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return static_cast<std::size_t>(random % count);
    }

    void put(stream& s, work w) {
        std::lock_guard const lock{mutex};
        if (s.captures) {
            s.captures->nodes.push_back({std::move(w), s.last});
            s.last = {s.captures->nodes.size() - 1};
            ++captured_nodes;
        } else {
            std::uint64_t const number = w.number();
            s.queue.push_back({std::move(w), number, nullptr});
        }
    }

    // The GPU in whose memory an address is; -1 in no GPU's.
    int device_of(void const* p) {
        std::lock_guard const lock{mutex};
        auto const at = static_cast<char const*>(p);
        auto const next = blocks.upper_bound(at);
        bool const inside =
            next != blocks.begin() && at < std::prev(next)->first + std::prev(next)->second.bytes;
        return inside ? std::prev(next)->second.device : -1;
    }
    bool is_memory_of(int device, void const* p) { return device_of(p) == device; }

    // Whether a graph that the program has not destroyed, or a capture, holds a communicator.
    bool is_held(void const* communicator) {
        std::lock_guard const lock{mutex};
        auto const holds = [=](graph const* g) {
            return g != nullptr && g->holds.count(communicator) > 0;
        };
        return std::any_of(streams.begin(), streams.end(),
                           [=](stream const* s) { return holds(s->captures.get()); }) ||
               std::any_of(graphs.begin(), graphs.end(),
                           [=](auto const* g) { return holds(g->get()); }) ||
               std::any_of(executables.begin(), executables.end(),
                           [=](executable const* e) { return holds(e->of.get()); });
    }

    // Runs one piece of work, if any may run.
    bool progress() {
        std::lock_guard const lock{mutex};
        struct choice {
            stream* where;
            std::size_t node;
        };
        std::vector<choice> all;
        for (stream* s : streams) {
            if (s->queue.empty()) {
                continue;
            }
            stream::item const& head = s->queue.front();
            if (!head.graph) {
                if (head.what.may_run(head.number)) {
                    all.push_back({s, 0});
                }
                continue;
            }
            launch const& l = *head.graph;
            for (std::size_t i = 0; i < l.done.size(); ++i) {
                bool ready = !l.done[i];
                for (std::size_t before : l.of->nodes[i].after) {
                    ready = ready && l.done[before];
                }
                if (ready && l.of->nodes[i].what.may_run(l.numbers[i])) {
                    all.push_back({s, i});
                }
            }
        }
        if (all.empty()) {
            return false;
        }
        choice const c = all[choose(all.size())];
        stream::item& head = c.where->queue.front();
        if (!head.graph) {
            work const now = std::move(head.what);
            c.where->queue.pop_front();
            now.run();
        } else {
            launch& l = *head.graph;
            l.of->nodes[c.node].what.run();
            l.done[c.node] = true;
            if (--l.left == 0) {
                c.where->queue.pop_front();
            }
        }
        return true;
    }
};

inline state& here() {
    static state s;
    return s;
}

// The GPU that is current in this thread, and how many captures it has begun and not ended.
inline thread_local int current = 0;
inline thread_local int captures = 0;

} // namespace machine
