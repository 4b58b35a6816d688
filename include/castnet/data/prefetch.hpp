// Prefetched data set: worker threads read ahead while a training step runs.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/own_threads.hpp>
#include <castnet/data/adaptor.hpp>
#include <castnet/data/detail/epoch_owner.hpp>
#include <castnet/data/detail/sample_row.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace castnet::data {

struct prefetch_options {
    // Threads that read; 0: one, and another one whenever the training waits for more than a
    // hundredth of its time, up to the machine's.
    unsigned workers = 0;
    // Samples that are read ahead, besides those of the step; 0: those of two steps.
    size_t ahead = 0;
};

namespace detail {

// A ring of samples of `numbers` floats each, filled by workers in the order of the epoch.
// read(sample, to) makes one.
template <class Read>
class sample_ring {
public:
    sample_ring(Read read, size_t numbers, prefetch_options const& options)
        : read_{std::move(read)}, numbers_{numbers}, options_{options} {}
    sample_ring(sample_ring const&) = delete;
    sample_ring& operator=(sample_ring const&) = delete;
    ~sample_ring() { end(); }

    // An epoch is this thread's from now on, until release(). Throws castnet::error where one is
    // another thread's.
    void claim(epoch const& e) { owner_.claim("data::prefetch", e); }
    void release() { owner_.release(); }

    // After end().
    void begin(epoch const& e, size_t samples) {
        order_.assign(e.order.begin(), e.order.end());
        place_of_.assign(samples, nowhere);
        for (size_t const sample : order_) {
            place_of_[sample] = to_come;
        }
        step_ = std::max<size_t>(e.rows, 1);
        size_t const ahead = options_.ahead == 0 ? 2 * step_ : options_.ahead;
        rows_.assign(std::min(step_ + ahead, order_.size()), {});
        values_.resize(rows_.size() * numbers_);
        next_ = 0;
        released_ = 0;
        steps_ = 0;
        stopping_ = false;
        started_ = castnet::detail::monotonic_seconds();
        waited_ = 0;
        while (workers_.size() < std::max(options_.workers, 1U)) {
            add_worker();
        }
    }

    // The samples of the step before are not read again.
    void begin_step() {
        std::lock_guard const lock{mutex_};
        released_ = step_ * steps_++;
        room_.notify_all();
    }

    // Ends the workers, after the samples that they are reading.
    void end() {
        {
            std::lock_guard const lock{mutex_};
            stopping_ = true;
            room_.notify_all();
        }
        workers_.join();
        rows_.clear();
        order_.clear();
    }

    // Calls use(numbers) for a sample that is or will be in the ring, and returns true; waits until
    // it has been read. Throws what reading it has thrown.
    template <class Use>
    bool with(size_t sample, Use const& use) {
        std::unique_lock lock{mutex_};
        while (!has_row(sample)) {
            bool const comes = sample < place_of_.size() && place_of_[sample] == to_come;
            if (!comes || !has_room()) { // or not before others are forgotten
                return false;
            }
            wait(lock);
        }
        size_t const place = place_of_[sample];
        row& r = rows_[place];
        while (!r.done) {
            wait(lock);
        }
        if (r.failure) {
            std::rethrow_exception(r.failure);
        }
        ++r.readers;
        lock.unlock();
        use(values_.data() + place * numbers_);
        lock.lock();
        if (--r.readers == 0) {
            room_.notify_all();
        }
        return true;
    }

    // Seconds of this epoch in which a sample that was asked for had not been read.
    double waited() const {
        std::lock_guard const lock{mutex_};
        return waited_;
    }
    size_t workers() const {
        std::lock_guard const lock{mutex_};
        return workers_.size();
    }

private:
    // Instead of a sample's place in the ring.
    static constexpr size_t nowhere = ~size_t{0}, to_come = nowhere - 1;

    struct row {
        size_t sample = nowhere;
        int readers = 0;
        bool done = false;
        std::exception_ptr failure{};
    };

    bool has_row(size_t sample) const {
        return sample < place_of_.size() && place_of_[sample] < rows_.size() &&
               rows_[place_of_[sample]].sample == sample;
    }
    bool has_room() const {
        return next_ < order_.size() && next_ < released_ + rows_.size() &&
               rows_[next_ % rows_.size()].readers == 0;
    }

    void wait(std::unique_lock<std::mutex>& lock) {
        double const begin = castnet::detail::monotonic_seconds();
        filled_.wait(lock);
        double const now = castnet::detail::monotonic_seconds();
        waited_ += now - begin;
        constexpr double share = 0.01;
        if (options_.workers == 0 && waited_ > share * (now - started_) &&
            workers_.size() < std::thread::hardware_concurrency()) {
            try {
                add_worker();
            } catch (error const&) { // those that there are go on
                options_.workers = unsigned(workers_.size());
            }
        }
    }

    void add_worker() {
        workers_.start([this] { work(); });
    }

    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            room_.wait(lock, [&] { return stopping_ || next_ == order_.size() || has_room(); });
            if (stopping_ || next_ == order_.size()) {
                return;
            }
            size_t const place = next_ % rows_.size(), sample = order_[next_];
            ++next_;
            row& r = rows_[place];
            r = {.sample = sample};
            place_of_[sample] = place;
            lock.unlock();
            std::exception_ptr failure;
            try {
                read_(sample, values_.data() + place * numbers_);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            r.failure = failure;
            r.done = true;
            filled_.notify_all();
        }
    }

    epoch_owner owner_;
    Read read_;
    size_t numbers_;
    prefetch_options options_;
    mutable std::mutex mutex_;
    std::condition_variable room_, filled_;
    std::vector<size_t> order_;
    size_t next_ = 0;     // position in the order of the next sample to be read
    size_t released_ = 0; // position of the first one that is still needed
    size_t step_ = 1;     // samples of a step
    size_t steps_ = 0;    // begun
    std::vector<row> rows_;
    std::vector<size_t> place_of_; // of each sample; another sample's once it was forgotten
    std::vector<float> values_;
    castnet::detail::own_threads workers_;
    bool stopping_ = false;
    double started_ = 0, waited_ = 0;
};

} // namespace detail

template <class Data>
class prefetched : public adaptor<Data> {
    using base = adaptor<Data>;
    using row = detail::sample_row<Data>;

public:
    prefetched(Data data, prefetch_options const& options)
        : base{std::move(data)},
          ring_{std::make_shared<ring>(reader{this->base::base()}, row::count, options)} {}

    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        if (!ring_->with(sample, [&](float const* all) {
                std::copy_n(all + row::first_input(I), row::template input_size<I>, out);
            })) {
            base::template copy_input<I>(sample, out);
        }
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        if (!ring_->with(sample, [&](float const* all) {
                std::copy_n(all + row::first_target(I), row::template target_size<I>, out);
            })) {
            base::template copy_target<I>(sample, out);
        }
    }

    void begin_epoch(epoch const& e) const {
        ring_->claim(e);
        try {
            ring_->end(); // of an epoch around this one, as where a callback of fit() evaluates
            if constexpr (ReadByEpochs<Data>) {
                base::begin_epoch(e);
            }
            ring_->begin(e, this->size());
        } catch (...) {
            ring_->end();
            ring_->release();
            throw;
        }
    }
    void begin_step() const {
        ring_->begin_step();
        base::begin_step();
    }
    void end_epoch() const {
        ring_->end();
        ring_->release();
        base::end_epoch();
    }

    // Of the epoch in progress, or of the last one: the seconds for which a training waited for its
    // samples. Workers that read now.
    double seconds_waited() const { return ring_->waited(); }
    size_t workers() const { return ring_->workers(); }

private:
    struct reader {
        Data data;
        void operator()(size_t sample, float* to) const { row::read(data, sample, to); }
    };
    using ring = detail::sample_ring<reader>;

    std::shared_ptr<ring> ring_;
};

// The same data set, whose samples worker threads read ahead while fit() trains: PyTorch's
// DataLoader(num_workers), tf.data's prefetch. Samples are kept as floats, in a ring of a step's
// samples and those ahead; so where a model computes in double, what the data set computes, such as
// rotated images, is rounded. What is trained does not depend on the number of workers. An
// exception of a data set reaches the caller of fit() when the sample's turn comes; workers end
// with the epoch, however it ends. To be put around the other adaptors: what is outside of it is
// not done by workers. Outside of fit(), samples are read when they are asked for. Copies share the
// ring, so trainings in several threads need one each: fit() throws castnet::error otherwise.
template <class Data>
prefetched<Data> prefetch(Data data, prefetch_options const& options = {}) {
    return {std::move(data), options};
}

} // namespace castnet::data
