// Threads that belong to an object, in the process that has started them.
#pragma once

#include <castnet/core/error.hpp>

#include <cstddef>
#include <new>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace castnet::detail {

// A child of fork() gets a copy of the object, but none of its threads: it cannot use them, and
// ends without waiting for them. The owner has to tell the threads to end before this is destroyed.
class own_threads {
public:
    own_threads() = default;
    own_threads(own_threads const&) = delete;
    own_threads& operator=(own_threads const&) = delete;
    ~own_threads() { join(); }

    std::size_t size() const { return threads_.size(); }

    // Throws castnet::error where the system starts no other thread.
    template <class F>
    void start(F f) try {
        if (threads_.empty()) {
            process_ = ::getpid();
        }
        threads_.emplace_back(std::move(f));
    } catch (std::system_error const& e) {
        throw error({"castnet: cannot start a thread: ", e.code().message(),
                     "; allow the user more processes (ulimit -u) or this one more memory"});
    }

    // Throws castnet::error in a child of the process that has started them.
    void check_process() const {
        if (!are_here()) {
            throw error("castnet: the threads of this model, training or data set are those of the "
                        "process that has called fork(); make it in the child");
        }
    }

    // Waits until all have ended.
    void join() {
        if (!are_here()) { // a thread that is not there can be neither joined nor destroyed
            alignas(list) std::byte never_destroyed[sizeof(list)];
            ::new (never_destroyed) list(std::exchange(threads_, {}));
            return;
        }
        for (std::thread& each : threads_) {
            each.join();
        }
        threads_.clear();
    }

private:
    using list = std::vector<std::thread>;

    bool are_here() const { return threads_.empty() || process_ == ::getpid(); }

    list threads_;
    ::pid_t process_ = 0; // that has started them
};

} // namespace castnet::detail
