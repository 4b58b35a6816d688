// Team of threads that run one plan, each as one device, and wait for each other's stages.
#pragma once

#include <castnet/core/own_threads.hpp>
#include <castnet/device/cpu/threads.hpp>

#include <atomic>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

class thread_team {
public:
    // Each thread gets an equal share of the calling thread's OpenMP threads. Throws castnet::error
    // where the system does not start all of them.
    explicit thread_team(int size) : ended_(static_cast<std::size_t>(size)) {
        int const share = thread_share(size);
        try {
            for (int i = 0; i < size; ++i) {
                threads_.start([this, i, share] {
                    set_thread_count(share);
                    live(i);
                });
            }
        } catch (...) {
            end_threads();
            throw;
        }
    }
    thread_team(thread_team const&) = delete;
    thread_team& operator=(thread_team const&) = delete;
    ~thread_team() { end_threads(); }

    // Calls work(i) on thread i, on all at the same time; returns when all have returned. Throws
    // castnet::error in a child of the process that has made the team.
    template <class F>
    void run(F const& work) {
        threads_.check_process();
        work_ = &work;
        call_ = [](void const* f, int i) { (*static_cast<F const*>(f))(i); };
        for (position& p : ended_) {
            p.stage.store(-1, std::memory_order_relaxed);
        }
        working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
        begin_round();
        wait_while(working_, [](int left) { return left > 0; });
    }

    // Called in work: reports that thread i has completed a stage; waits until thread i has.
    void end(int i, int stage) {
        position& p = ended_[static_cast<std::size_t>(i)];
        p.stage.store(stage, std::memory_order_release);
        p.stage.notify_all();
    }
    void wait_for(int i, int stage) const {
        wait_while(ended_[static_cast<std::size_t>(i)].stage,
                   [stage](int last) { return last < stage; });
    }

private:
    struct alignas(64) position {
        std::atomic<int> stage{-1};
    };

    template <class F>
    static void wait_while(std::atomic<int> const& value, F const& too_early) {
        for (int now; too_early(now = value.load(std::memory_order_acquire));) {
            value.wait(now, std::memory_order_acquire);
        }
    }

    void end_threads() {
        call_ = nullptr;
        begin_round();
        threads_.join();
    }

    void begin_round() {
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
    }

    void live(int i) {
        for (unsigned seen = 0;; ++seen) {
            round_.wait(seen, std::memory_order_acquire);
            if (call_ == nullptr) {
                return;
            }
            call_(work_, i);
            if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                working_.notify_all();
            }
        }
    }

    detail::own_threads threads_;
    std::vector<position> ended_; // last completed stage in this round, per thread
    void (*call_)(void const*, int) = nullptr;
    void const* work_ = nullptr;
    std::atomic<unsigned> round_{0};
    std::atomic<int> working_{0};
};

} // namespace castnet::cpu::inline CASTNET_TARGET
