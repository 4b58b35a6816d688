// Communicator of the threads of one process, which read and write each other's memory.
#pragma once

#include <castnet/comm/rendezvous.hpp>

#include <algorithm>
#include <deque>
#include <span>

namespace castnet::comm {

// No communicator between processes: all replicas are in this one.
struct no_processes {
    static constexpr int rank() { return 0; }
    static constexpr int size() { return 1; }
};

// `Outer` is a communicator of processes with equally many replicas each. The sums of a process are
// made in the memory of its first replica, which exchanges them with the other processes.
template <class Outer = no_processes>
class in_process {
    static constexpr bool closed = std::is_same_v<Outer, no_processes>; // one process

public:
    in_process(rendezvous& local, int rank)
        requires(closed)
        : rendezvous_{local}, local_{rank} {}
    in_process(in_process<> const& inner, Outer& outer)
        : rendezvous_{inner.local_rendezvous()}, local_{inner.rank()}, outer_{outer} {}

    int rank() const { return outer_.rank() * rendezvous_.size() + local_; }
    int size() const { return outer_.size() * rendezvous_.size(); }
    rendezvous& local_rendezvous() const { return rendezvous_; }

    template <class T>
    void begin_sum(std::span<T> values, collective const& at) {
        begin(values, {}, at);
    }
    template <class T>
    void begin_reduce(std::span<T> values, owners const& to, collective const& at) {
        begin(values, {true, false, to}, at);
    }
    template <class T>
    void begin_share(std::span<T> values, owners const& from, collective const& at) {
        begin(values, {false, true, from}, at);
    }
    template <class T>
    void sum(std::span<T> values, collective const& at) {
        wait_for(begin(values, {}, at));
    }

    void progress() {
        if constexpr (!closed) {
            if (local_ == 0) {
                outer_.progress();
            }
        }
        bool all_sent = true; // to other processes: in the same order in each
        for (operation& o : begun_) {
            if (o.phase < left) {
                (this->*o.go_on)(o, all_sent);
                all_sent = all_sent && o.phase >= sent;
            }
        }
    }
    void finish() {
        for (operation const& o : begun_) {
            wait_for(o);
        }
        begun_.clear();
    }

    // all: the bytes of every rank, in the order of the ranks.
    void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const& at) {
        finish();
        size_t const bytes = mine.size(), here = bytes * size_t(rendezvous_.size());
        auto const number =
            rendezvous_.enter(local_, const_cast<std::byte*>(mine.data()), bytes, at);
        rendezvous_.wait(local_, number, entered);
        std::byte* const to = all.data() + size_t(outer_.rank()) * here;
        for (int r = 0; r < rendezvous_.size(); ++r) {
            std::copy_n(static_cast<std::byte const*>(rendezvous_.data(number, r)), bytes,
                        to + size_t(r) * bytes);
        }
        leave(number);
        if constexpr (!closed) {
            if (local_ == 0) {
                outer_.gather({to, here}, all, at);
            }
            spread(all, at);
        }
    }

    // Sends rank 0's bytes to all.
    void broadcast(std::span<std::byte> bytes, collective const& at) {
        finish();
        if constexpr (!closed) {
            if (local_ == 0) {
                outer_.broadcast(bytes, at);
            }
        }
        spread(bytes, at);
    }

private:
    // Phases of a replica in a collective: its values are available, its part is summed, the sums
    // are sent to other processes, it has left.
    static constexpr int entered = 1, added = 2, sent = 3, left = rendezvous::phases;

    struct operation {
        std::uint64_t number;
        std::size_t count;
        detail::exchange_kind kind;
        void (in_process::*go_on)(operation&, bool may_send);
        int phase = entered;
        std::uint64_t outer = 0; // the number of the operation between processes
    };

    template <class T>
    operation& begin(std::span<T> values, detail::exchange_kind const& kind, collective const& at) {
        while (!begun_.empty() && done(begun_.front())) {
            begun_.pop_front();
        }
        if (begun_.size() == rendezvous::under_way) {
            wait_for(begun_.front());
            begun_.pop_front();
        }
        auto const number = rendezvous_.enter(local_, values.data(), values.size_bytes(), at);
        begun_.push_back({number, values.size(), kind, &in_process::go_on<T>});
        progress();
        return begun_.back();
    }

    template <class T>
    void go_on(operation& o, bool may_send) {
        auto const row = [&](int r) { return static_cast<T*>(rendezvous_.data(o.number, r)); };
        int const replicas = rendezvous_.size();
        if (o.phase == entered && rendezvous_.all_reached(o.number, entered)) {
            rendezvous_.require_same_size(local_, o.number);
            part const mine = !closed || (o.kind.adds && o.kind.shares)
                                  ? part_of(o.count, local_, replicas)
                                  : o.kind.to.of(o.count, local_, replicas);
            auto const copy = [&](int from, int to, part const& p) {
                if (from != to) {
                    std::copy(row(from) + p.first, row(from) + p.last, row(to) + p.first);
                }
            };
            if (o.kind.adds) {
                detail::tree_sum(row, replicas, mine.first, mine.last);
            }
            o.phase = added;
            if constexpr (!closed) {
                if (!o.kind.adds) {
                    copy(local_, 0, o.kind.to.of(o.count, rank(), size()));
                }
                rendezvous_.reach(local_, o.number, added);
            } else {
                int const holder = o.kind.adds ? 0 : local_;
                for (int r = 0; r < replicas; ++r) {
                    if (o.kind.shares || r == local_) {
                        copy(holder, r, mine);
                    }
                }
                leave(o);
            }
        }
        if constexpr (!closed) {
            exchange_outside(o, row, may_send);
        }
    }

    template <class Row>
    void exchange_outside(operation& o, Row const& row, bool may_send) {
        if (o.phase == added && local_ != 0) {
            o.phase = sent;
        }
        if (o.phase == added && may_send && rendezvous_.all_reached(o.number, added)) {
            auto const at = rendezvous_.where(o.number, 0);
            o.outer =
                outer_.begin_together(std::span{row(0), o.count}, o.kind, rendezvous_.size(), at);
            o.phase = sent;
        }
        if (o.phase == sent && local_ == 0 && outer_.is_done(o.outer)) {
            leave(o);
        }
        if (o.phase == sent && local_ != 0 && rendezvous_.reached(o.number, 0, left)) {
            part const mine =
                o.kind.shares ? part{0, o.count} : o.kind.to.of(o.count, rank(), size());
            std::copy(row(0) + mine.first, row(0) + mine.last, row(local_) + mine.first);
            leave(o);
        }
    }

    void leave(operation& o) {
        rendezvous_.reach(local_, o.number, left);
        o.phase = left;
    }
    bool done(operation const& o) const {
        return o.phase == left && rendezvous_.all_reached(o.number, left);
    }
    void wait_for(operation const& o) {
        auto const until = [&](auto const& reached) {
            rendezvous_.wait(
                local_, o.number,
                [&] {
                    progress();
                    return reached();
                },
                patience());
        };
        if constexpr (!closed) {
            if (local_ == 0) {
                until([&] { return o.phase >= sent; });
                outer_.wait_for(o.outer);
            }
        }
        until([&] { return done(o); });
    }

    // The other replicas of a process are more patient than the first, which reports a timeout
    // between processes itself.
    int patience() const { return !closed && local_ != 0 ? 2 : 1; }

    void leave(std::uint64_t number) {
        rendezvous_.reach(local_, number, left);
        rendezvous_.wait(local_, number, left);
    }
    // Sends bytes of the process's first replica to the others.
    void spread(std::span<std::byte> bytes, collective const& at) {
        auto const number = rendezvous_.enter(local_, bytes.data(), bytes.size(), at);
        rendezvous_.wait(local_, number, entered, patience());
        if (local_ != 0) {
            std::copy_n(static_cast<std::byte const*>(rendezvous_.data(number, 0)), bytes.size(),
                        bytes.data());
        }
        leave(number);
    }

    rendezvous& rendezvous_;
    int local_; // rank in the process
    std::conditional_t<closed, no_processes, Outer&> outer_{};
    std::deque<operation> begun_;
};

static_assert(Communicator<in_process<>>);

} // namespace castnet::comm
