// The group of policy::mirrored: N replicas, each in a thread of its own that lives as long as the
// group; the first is the caller's.
#pragma once

#include <castnet/comm/in_process.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace castnet::comm {

// N: how many; 0: as many as the constructor is told.
template <int N>
class threads {
    static_assert(N >= 0, "castnet: a process has at least one replica");

public:
    // Throws castnet::error if the environment's deadline() is no number above 0.
    explicit threads(int local = N) : place_{local} { deadline(); }
    threads(threads const&) = delete;
    threads& operator=(threads const&) = delete;
    ~threads() {
        {
            std::lock_guard const lock{mutex_};
            ended_ = true;
        }
        called_.notify_all();
        for (std::thread& t : workers_) {
            t.join();
        }
    }

    int local() const { return place_.size(); }
    static constexpr int first() { return 0; }
    int size() const { return place_.size(); }

    // f(i, communicator) on all replicas. Throws castnet::error, which names the replica and where
    // it was, with what it threw nested, if one throws or is late; after that the group is of no
    // use. A replica that does not return at all within the deadline ends the program.
    template <class F>
    void run(F const& f) {
        if (size() == 1) {
            in_process<> c{place_, 0};
            f(0, c);
            return;
        }
        start([&](int i) {
            in_process<> c{place_, i};
            f(i, c);
        });
    }

private:
    void start(std::function<void(int)> const& work) {
        if (workers_.empty()) {
            for (int i = 1; i < size(); ++i) {
                workers_.emplace_back([this, i] { live(i); });
            }
        }
        {
            std::lock_guard const lock{mutex_};
            work_ = &work;
            ++round_;
            running_.store(size() - 1, std::memory_order_relaxed);
        }
        called_.notify_all();
        guarded(work, 0);
        bool const all = detail::wait_until([&] { return returned() || place_.failed(); }) &&
                         detail::wait_until([&] { return returned(); });
        if (!all) { // it still uses what the caller would take away
            place_.fail(0, "another replica did not return");
            std::fprintf(stderr, "%s\n", place_.message().c_str());
            std::_Exit(1);
        }
        if (place_.failed()) {
            std::exception_ptr const cause = cause_;
            if (!cause) {
                throw error(place_.message());
            }
            try {
                std::rethrow_exception(cause);
            } catch (...) {
                std::throw_with_nested(error(place_.message()));
            }
        }
    }
    bool returned() const { return running_.load(std::memory_order_acquire) == 0; }

    void live(int i) {
        std::uint64_t seen = 0;
        for (;;) {
            std::function<void(int)> const* work = nullptr;
            {
                std::unique_lock lock{mutex_};
                called_.wait(lock, [&] { return ended_ || round_ > seen; });
                if (ended_) {
                    return;
                }
                seen = round_;
                work = work_;
            }
            guarded(*work, i);
            running_.fetch_sub(1, std::memory_order_acq_rel);
        }
    }

    void guarded(std::function<void(int)> const& work, int i) {
        try {
            work(i);
        } catch (std::exception const& e) {
            remember(i, e.what());
        } catch (...) {
            remember(i, "threw something that is no std::exception");
        }
    }
    void remember(int i, char const* what) {
        std::lock_guard const lock{mutex_};
        if (!place_.failed()) {
            cause_ = std::current_exception();
            place_.fail(i, what);
        }
    }

    meeting_place place_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable called_;
    std::function<void(int)> const* work_ = nullptr;
    std::uint64_t round_ = 0;
    std::atomic<int> running_{0};
    bool ended_ = false;
    std::exception_ptr cause_;
};

} // namespace castnet::comm
