// The thread in whose epoch a data set is, which copies of it share.
#pragma once

#include <castnet/core/error.hpp>

#include <mutex>
#include <thread>

namespace castnet::data::detail {

class epoch_owner {
public:
    // An epoch of the calling thread begins, maybe within another one of it: a callback of fit()
    // may evaluate the same data. Throws castnet::error, with the function `call` that made the
    // data set, where another thread is in one.
    void claim(char const* call) {
        std::lock_guard const lock{mutex_};
        auto const here = std::this_thread::get_id();
        if (epochs_ > 0 && thread_ != here) {
            throw error({"castnet: ", call,
                         ": another thread trains with or evaluates this data set or a copy of it, "
                         "which share the epoch; call ",
                         call,
                         "() for each training (and augment(), mixup(), balanced_sample(), … "
                         "within it, whose copies share the epoch, too)"});
        }
        thread_ = here;
        ++epochs_;
    }
    // It ends.
    void release() {
        std::lock_guard const lock{mutex_};
        --epochs_;
    }

private:
    std::mutex mutex_;
    std::thread::id thread_;
    int epochs_ = 0; // of that thread, one within the other
};

} // namespace castnet::data::detail
