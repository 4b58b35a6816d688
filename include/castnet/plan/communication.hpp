// Communication of the replicas of a network in a step, found while compiling.
//
// Replicas take different samples, so what a launch sums over samples is a part of the sum. Three
// things become of it:
//   a sum that another launch of the plan reads (batch statistics) is added up over the replicas
//   before that launch, together with all others that wait then;
//   a gradient that only the optimizer reads is added up with its neighbours, in buckets, which are
//   complete one after the other during the backward pass;
//   a result (loss, metrics) is added up after the last launch.
// What follows from whole sums is the same on all replicas, and whole. Where batch statistics stay
// `local`, no launch waits: all gradients go in buckets, and at the end running statistics, which
// every replica has moved on by its own samples, become their mean.
#pragma once

#include <castnet/plan/plan.hpp>
#include <castnet/plan/run_order.hpp>

#include <utility>

namespace castnet::ir {

// Added up over the replicas when launch `after` has ended, in the order in which they run
// (plan/run_order.hpp): ranges [first, last).
struct exchange {
    int after = 0;
    int first = 0, last = 0;
    bool gradients = false;   // a bucket; else sums that the next launch reads,
    bool statistics = false;  // or running statistics
    std::ptrdiff_t count = 0; // elements of all ranges
};

// Bytes that a bucket of gradients holds at most, unless one parameter is larger; the first, which
// the others do not wait for, is small. (PyTorch DDP's sizes.)
struct bucket_limits {
    std::ptrdiff_t first = 1 << 20;
    std::ptrdiff_t others = 25 << 20;
};

struct communication_draft {
    list<exchange> exchanges; // by `after`
    list<element_range> ranges;
};

// Whether a launch sums over the samples; besides, it may store something for each of them.
template <class Plan>
constexpr bool sums_samples(Plan const& p, kernel_launch const& s) {
    bool is_sum = false;
    for (int k = s.output; k < s.output + s.results; ++k) {
        is_sum = is_sum || !p.arrays[k].size.sample;
    }
    return is_sum && is_of_samples(s, p.arrays);
}

template <class Plan>
class communication_finder {
public:
    constexpr communication_finder(Plan const& p, std::ptrdiff_t element_bytes, bucket_limits b,
                                   bool local = false)
        : p_{p}, element_bytes_{element_bytes}, limits_{b}, local_{local} {
        for (int i = 0; i < Plan::sizes.parameters; ++i) {
            if (p.parameters[i].trainable) {
                trained_.push(i);
                for (int k = trained_.size() - 1; k > 0 && lies_before(k, k - 1); --k) {
                    std::swap(trained_[k], trained_[k - 1]);
                }
            }
        }
        made_by_ = list<int>::filled(trained_.size(), -1);
    }

    constexpr communication_draft run() {
        find_results();
        int end = 0;
        for_each_stage(p_, [&](stage const& now, int repetition, int position) {
            repetition_ = repetition;
            for (int i = now.first; !local_ && i < now.last; ++i) {
                exchange_before(p_.launches[i], position);
            }
            for (int i = now.first; i < now.last; ++i) {
                kernel_launch const& s = p_.launches[i];
                end = position + i - now.first;
                if (local_ || sums_samples(p_, s)) {
                    for (int k = s.output; k < s.output + s.results; ++k) {
                        take(end, k);
                    }
                }
            }
        });
        exchange_all(end);
        add_buckets();
        sort();
        return std::move(d_);
    }

private:
    constexpr bool lies_before(int a, int b) const { // in memory
        return p_.parameters[trained_[a]].offset < p_.parameters[trained_[b]].offset;
    }
    // The array as it is in the present repetition.
    constexpr array_ref now(int array) const {
        array_ref r = p_.arrays[array];
        r.offset += repetition_ * r.repeat_stride;
        return r;
    }

    // Notes an array of launch i if it is a sum over samples; any one where statistics stay local.
    constexpr void take(int i, int array) {
        array_ref const r = now(array);
        if (r.size.sample) {
            return;
        }
        if (r.where == region::gradients) {
            made_by_[gradient_at(r.offset)] = i;
        } else if (local_ ? r.where == region::parameters : !is_result(i, r)) {
            waiting_.push({r.where, r.offset, r.size.count()});
        }
    }
    // A result is what is written last at its place, where there may have been other sums before.
    constexpr void find_results() {
        made_at_ = list<int>::filled(Plan::sizes.outputs, -1);
        for_each_stage(p_, [&](stage const& now, int repetition, int position) {
            repetition_ = repetition;
            for (int i = now.first; i < now.last; ++i) {
                kernel_launch const& s = p_.launches[i];
                for (int k = s.output; k < s.output + s.results; ++k) {
                    for (int n = 0; n < Plan::sizes.outputs; ++n) {
                        made_at_[n] =
                            lies_at(n, this->now(k)) ? position + i - now.first : made_at_[n];
                    }
                }
            }
        });
    }
    constexpr bool is_result(int launch, array_ref const& r) const {
        for (int n = 0; n < Plan::sizes.outputs; ++n) {
            if (lies_at(n, r) && made_at_[n] == launch) {
                return true;
            }
        }
        return false;
    }
    constexpr bool lies_at(int output, array_ref const& r) const {
        return p_.outputs[output].where == r.where && p_.outputs[output].offset == r.offset;
    }
    // The number in trained_ of the parameter whose gradient begins there.
    constexpr int gradient_at(std::ptrdiff_t offset) const {
        int low = 0, high = trained_.size() - 1;
        while (low < high) {
            int const middle = (low + high + 1) / 2;
            if (p_.parameters[trained_[middle]].offset <= offset) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    // Before its stage, which begins at `first`: no launch reads a sum of its own stage.
    constexpr void exchange_before(kernel_launch const& s, int first) {
        bool read = false;
        for (int k = s.first_array; k < s.first_array + s.arrays; ++k) {
            array_ref const r = now(k);
            if (r.where == region::gradients) { // rare: a gradient that another one is made of
                int& launch = made_by_[gradient_at(r.offset)];
                if (launch >= 0) {
                    waiting_.push({r.where, r.offset, r.size.count()});
                    launch = -1;
                }
            }
            for (element_range const& w : waiting_) {
                read = read || (!r.size.sample && r.where == w.where && r.offset == w.offset);
            }
        }
        if (read) {
            exchange_all(first - 1);
        }
    }
    constexpr void exchange_all(int after) {
        exchange e;
        e.after = after;
        e.first = d_.ranges.size();
        e.last = e.first + waiting_.size();
        e.statistics = local_;
        for (element_range const& w : waiting_) {
            d_.ranges.push(w);
            e.count += w.count;
        }
        waiting_.clear();
        if (e.count > 0) {
            d_.exchanges.push(e);
        }
    }

    // Parameters of a device lie in the order of the layers, so the gradients at the end are
    // complete first.
    // Gradients that are whole already leave gaps between the ranges of a bucket.
    constexpr void add_buckets() {
        exchange e;
        list<element_range> ranges;
        std::ptrdiff_t limit = limits_.first;
        auto const close = [&] {
            if (e.count > 0) {
                e.gradients = true;
                e.first = d_.ranges.size();
                e.last = e.first + ranges.size();
                for (int i = ranges.size() - 1; i >= 0; --i) { // by offset
                    d_.ranges.push(ranges[i]);
                }
                d_.exchanges.push(e);
                limit = limits_.others;
            }
            e = {};
            ranges.clear();
        };
        bool gap = true;
        for (int i = trained_.size() - 1; i >= 0; --i) {
            placed_parameter const& p = p_.parameters[trained_[i]];
            if (made_by_[i] < 0) {
                gap = true;
                continue;
            }
            if ((e.count + p.count()) * element_bytes_ > limit) {
                close();
            }
            if (gap || ranges.empty()) {
                ranges.push({region::gradients, p.offset, p.count()});
                e.count += p.count();
            } else {
                element_range& r = ranges.back();
                std::ptrdiff_t const more = r.offset - p.offset;
                r.offset = p.offset;
                r.count += more;
                e.count += more;
            }
            gap = false;
            e.after = made_by_[i] > e.after ? made_by_[i] : e.after;
        }
        close();
    }

    // By `after`; both kinds are in this order already, but for a bucket that is complete before an
    // earlier one, which has to wait for it: replicas make their calls in one order.
    constexpr void sort() {
        list<exchange> sorted;
        int bucket = 0;
        while (bucket < d_.exchanges.size() && !d_.exchanges[bucket].gradients) {
            ++bucket;
        }
        int const buckets = bucket;
        int sum = 0;
        int last = 0;
        while (sum < buckets || bucket < d_.exchanges.size()) {
            if (bucket < d_.exchanges.size() && d_.exchanges[bucket].after < last) {
                d_.exchanges[bucket].after = last;
            }
            bool const take_sum =
                sum < buckets && (bucket == d_.exchanges.size() ||
                                  d_.exchanges[sum].after <= d_.exchanges[bucket].after);
            sorted.push(d_.exchanges[take_sum ? sum++ : bucket++]);
            last = sorted.back().after;
        }
        d_.exchanges = std::move(sorted);
    }

    Plan const& p_;
    std::ptrdiff_t element_bytes_;
    bucket_limits limits_;
    bool local_;
    int repetition_ = 0;
    list<int> trained_; // parameters, as they lie in memory: those of one device after the other
    list<int> made_by_; // per trained one: the launch whose sum its gradient is; -1 if whole
    list<int> made_at_; // per result: the launch that writes it
    list<element_range> waiting_; // sums that no launch has read yet
    communication_draft d_;
};

// The exchanges of a plan as a constant.
template <auto const& Plan, std::size_t ElementBytes, bool LocalStatistics = false>
class communication_of {
    using plan_type = std::remove_cvref_t<decltype(Plan)>;
    static constexpr communication_draft find() {
        communication_finder<plan_type> f{Plan, std::ptrdiff_t{ElementBytes}, bucket_limits{},
                                          LocalStatistics};
        return f.run();
    }
    struct sizes {
        int exchanges, ranges;
    };
    static constexpr sizes count() {
        communication_draft const d = find();
        return {d.exchanges.size(), d.ranges.size()};
    }
    static constexpr sizes size = count();

    struct tables {
        exchange exchanges[array_size(size.exchanges)]{};
        element_range ranges[array_size(size.ranges)]{};

        constexpr explicit tables(communication_draft const& d) {
            copy_list(exchanges, d.exchanges);
            copy_list(ranges, d.ranges);
        }
    };
    static constexpr tables make() {
        communication_draft const d = find();
        return tables{d};
    }

public:
    static constexpr int exchange_count = size.exchanges;
    static constexpr tables value = make();

    // Buckets of gradients, or sums between two launches: how many, and their bytes together.
    static constexpr int count_of(bool gradients) {
        int count = 0;
        for (int i = 0; i < exchange_count; ++i) {
            count += value.exchanges[i].gradients == gradients;
        }
        return count;
    }
    static constexpr std::size_t bytes_of(bool gradients) {
        std::ptrdiff_t elements = 0;
        for (int i = 0; i < exchange_count; ++i) {
            exchange const& e = value.exchanges[i];
            elements += e.gradients == gradients ? e.count : 0;
        }
        return static_cast<std::size_t>(elements) * ElementBytes;
    }
};

} // namespace castnet::ir
