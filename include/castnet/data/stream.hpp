// Streamed data set: a source that can only be read from its beginning, sample by sample.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/detail/sample_row.hpp>
#include <castnet/data/epoch.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/data/targets.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace castnet::data {

struct stream_options {
    size_t shuffle_buffer = 1000; // samples; see shuffle()
};

template <class Reader, class... Span>
struct stream_reader { // a class, so that every compiler prints the types
    static constexpr bool fits = std::is_invocable_r_v<bool, Reader&, Span...>;
    static_assert(fits,
                  "castnet: data::stream: open() returns a function that writes the next sample to "
                  "a span for each input and then one for each target, and returns whether there "
                  "was one; see stream_reader<found function, spans...>");
};

namespace detail {

// Samples of a source as rows of numbers, which are kept from when they are read until no step will
// use them any more. open() begins at the first one; read(source, row) reads the next.
template <class Open, class Read>
class rows_in_order {
public:
    rows_in_order(Open open, Read read, size_t samples, size_t numbers, size_t buffer)
        : open_{std::move(open)}, read_{std::move(read)}, samples_{samples}, numbers_{numbers},
          buffer_{std::max<size_t>(buffer, 1)} {}

    // From now on, those of this order are kept until they are used.
    void begin(epoch const& e) {
        std::lock_guard const lock{mutex_};
        restart();
        rows_.clear();
        order_.assign(e.order.begin(), e.order.end());
        to_come_ = one_for_each(order_.empty() ? 0 : samples_);
        for (size_t const sample : order_) {
            ++to_come_[sample];
        }
        step_ = std::max<size_t>(e.rows, 1);
        released_ = steps_ = 0;
    }
    void begin_step() {
        std::lock_guard const lock{mutex_};
        size_t const end = std::min(step_ * steps_++, order_.size());
        for (; released_ < end; ++released_) {
            size_t const used = order_[released_];
            if (--to_come_[used] == 0) {
                rows_.erase(used);
            }
        }
    }
    void end() { begin({}); }

    // Calls use(row) for a sample.
    template <class Use>
    void with(size_t sample, Use const& use) {
        std::lock_guard const lock{mutex_};
        check_sample("data::stream", sample, samples_);
        auto found = rows_.find(sample);
        if (found == rows_.end()) {
            if (sample < next_) {
                restart();
            }
            while (next_ <= sample) {
                read_next(sample);
            }
            found = rows_.find(sample);
        }
        use(found->second.data());
    }

private:
    void restart() {
        source_.reset();
        next_ = 0;
    }
    void read_next(size_t wanted) {
        std::vector<float> row(numbers_);
        try {
            reading_sample(next_, [&] {
                if (!source_) {
                    source_.emplace(open_());
                }
                if (!read_(*source_, row.data())) {
                    throw error({"castnet: data::stream: the source ended after ",
                                 quantity(next_, "sample"), ", expected ", samples_});
                }
            });
        } catch (...) { // it may be anywhere
            restart();
            throw;
        }
        if (order_.empty()) { // outside of an epoch: the last ones
            rows_.erase(next_ - buffer_);
        }
        if (order_.empty() || to_come_[next_] != 0 || next_ == wanted) {
            rows_[next_] = std::move(row);
        }
        ++next_;
    }

    Open open_;
    Read read_;
    size_t samples_, numbers_, buffer_;
    std::mutex mutex_;
    std::optional<std::invoke_result_t<Open const&>> source_; // none before the first sample
    size_t next_ = 0;                                         // which it gives next
    std::unordered_map<size_t, std::vector<float>> rows_;
    std::vector<size_t> order_;                  // of the epoch; empty outside of one
    std::vector<size_t> to_come_;                // of each sample: how often steps will use it
    size_t step_ = 1, steps_ = 0, released_ = 0; // samples of a step; steps begun; samples used
};

} // namespace detail

template <class Type, class Inputs, class Open>
class stream_set;
template <TargetType Type, Shape... Inputs, class Open>
class stream_set<Type, std::tuple<Inputs...>, Open> {
public:
    using target_type = Type;
    static constexpr size_t input_count = sizeof...(Inputs);
    template <size_t I>
    using input_shape = std::tuple_element_t<I, std::tuple<Inputs...>>;

    stream_set(size_t samples, Open open, stream_options const& options)
        : samples_{samples}, options_{options},
          rows_{std::make_shared<rows>(std::move(open), read_row{}, samples, row_of<>::count,
                                       options.shuffle_buffer)} {}

    size_t size() const { return samples_; }
    size_t shuffle_buffer() const { return options_.shuffle_buffer; }

    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        rows_->with(sample, [&](float const* row) {
            std::copy_n(row + row_of<>::first_input(I), row_of<>::template input_size<I>, out);
        });
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        rows_->with(sample, [&](float const* row) {
            std::copy_n(row + row_of<>::first_target(I), row_of<>::template target_size<I>, out);
        });
    }

    void begin_epoch(epoch const& e) const { rows_->begin(e); }
    void begin_step() const { rows_->begin_step(); }
    void end_epoch() const { rows_->end(); }

private:
    template <size_t Count>
    using span_of = std::span<float, Count>;
    template <class Self = stream_set>
    using row_of = detail::sample_row<Self>;

    struct read_row {
        template <class Reader>
        bool operator()(Reader& reader, float* row) const {
            return read(reader, row, std::make_index_sequence<input_count>{},
                        std::make_index_sequence<as_targets<Type>::count>{});
        }
        template <class Reader, size_t... I, size_t... K>
        static bool read(Reader& reader, float* row, std::index_sequence<I...>,
                         std::index_sequence<K...>) {
            using all = row_of<>;
            if constexpr (stream_reader<Reader, span_of<all::template input_size<I>>...,
                                        span_of<all::template target_size<K>>...>::fits) {
                return reader(span_of<all::template input_size<I>>{row + all::first_input(I),
                                                                   all::template input_size<I>}...,
                              span_of<all::template target_size<K>>{
                                  row + all::first_target(K), all::template target_size<K>}...);
            } else {
                return false;
            }
        }
    };
    using rows = detail::rows_in_order<Open, read_row>;

    size_t samples_;
    stream_options options_;
    std::shared_ptr<rows> rows_;
};

// A data set of the first `samples` samples of a source that is read in order, such as a file that
// is larger than memory or what another program sends (tf.data's from_generator, PyTorch's
// IterableDataset). open() begins anew and returns a function that writes the next sample, a span
// of numbers for each input and then one for each target, and returns false at the end:
//   auto rows = data::stream<shape<1>, shape<2>>(1'000'000, [] {
//       return [file = std::ifstream{"rows.txt"}](auto x, auto y) mutable {
//           return bool(file >> x[0] >> x[1] >> y[0]);
//       };
//   });
// fit() shuffles by a buffer, which holds options.shuffle_buffer samples besides those of a step;
// the order depends on the model's seed and the epoch alone, and a resumed training reads up to
// where it goes on. A sample that comes again in the same epoch (repeat) is held until then. Any
// other one that was read before and is not held any more is read by beginning anew: so what asks
// for samples at random (mixup, folds, balanced_sample) belongs around a cache() in a file. Throws
// castnet::error if the source ends early, and sample_error for what its functions throw.
template <TargetType Type, Shape... Inputs, class Open>
stream_set<Type, std::tuple<Inputs...>, Open> stream(size_t samples, Open open,
                                                     stream_options const& options = {}) {
    return {samples, std::move(open), options};
}

} // namespace castnet::data
