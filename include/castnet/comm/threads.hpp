// Group of policy::mirrored: N replicas, each with its own thread, which lives as long as the
// group; the first uses the caller's.
#pragma once

#include <castnet/comm/in_process.hpp>
#include <castnet/comm/single_replica.hpp>
#include <castnet/core/own_threads.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace castnet::comm {

// N replicas; if N is 0, the constructor's argument.
template <int N>
class threads {
    static_assert(N >= 0, "castnet: a process has at least one replica");

public:
    // Throws castnet::error if the environment's timeout() is no number above 0.
    explicit threads(int local = N) : rendezvous_{local} { timeout(); }
    threads(threads const&) = delete;
    threads& operator=(threads const&) = delete;
    ~threads() {
        {
            std::lock_guard const lock{mutex_};
            ended_ = true;
        }
        called_.notify_all();
        workers_.join();
    }

    int local() const { return rendezvous_.size(); }
    static constexpr int first() { return 0; }
    int size() const { return rendezvous_.size(); }

    // Calls f(i, communicator) on all replicas. If one throws or is late, throws castnet::error
    // that names the replica and its last collective, with the replica's exception nested; the
    // group is unusable afterwards. A replica that does not return within the timeout ends the
    // program. Throws castnet::error, too, where the system does not start the threads, and in a
    // child of the process that has started them.
    template <class F>
    void run(F const& f) {
        if (size() == 1) {
            in_process<> c{rendezvous_, 0};
            f(0, c);
            return;
        }
        start([&](int i) {
            in_process<> c{rendezvous_, i};
            f(i, c);
        });
    }

private:
    void start(std::function<void(int)> const& work) {
        if (rendezvous_.failed()) {
            throw error({"castnet: these replicas have failed before and take no more calls; "
                         "compile another training. ",
                         rendezvous_.message()});
        }
        workers_.check_process();
        for (int i = 1 + int(workers_.size()); i < size(); ++i) {
            workers_.start([this, i] { live(i); });
        }
        {
            std::lock_guard const lock{mutex_};
            work_ = &work;
            ++round_;
            running_.store(size() - 1, std::memory_order_relaxed);
        }
        called_.notify_all();
        guarded(work, 0);
        bool const all = detail::wait_until([&] { return returned() || rendezvous_.failed(); }) &&
                         detail::wait_until([&] { return returned(); });
        if (!all) { // it still uses the caller's objects
            rendezvous_.fail(0, "another replica did not return");
            std::fprintf(stderr, "%s\n", rendezvous_.message().c_str());
            std::_Exit(1);
        }
        if (rendezvous_.failed()) {
            std::exception_ptr const cause = cause_;
            if (!cause) {
                throw error(rendezvous_.message());
            }
            try {
                std::rethrow_exception(cause);
            } catch (...) {
                std::throw_with_nested(error(rendezvous_.message()));
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
            remember(i, "threw something that is not a std::exception");
        }
    }
    void remember(int i, std::string_view what) {
        std::string_view const prefix = "castnet: ";
        std::lock_guard const lock{mutex_};
        if (!rendezvous_.failed()) {
            cause_ = std::current_exception();
            rendezvous_.fail_between(
                i, std::string{what.substr(what.starts_with(prefix) ? prefix.size() : 0)});
        }
    }

    rendezvous rendezvous_;
    castnet::detail::own_threads workers_;
    std::mutex mutex_;
    std::condition_variable called_;
    std::function<void(int)> const* work_ = nullptr;
    std::uint64_t round_ = 0;
    std::atomic<int> running_{0};
    bool ended_ = false;
    std::exception_ptr cause_;
};

static_assert(Group<threads<2>>);

} // namespace castnet::comm
