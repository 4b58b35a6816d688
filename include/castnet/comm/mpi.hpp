// Communicator of the processes of an MPI job. Needs castnet::mpi: Open MPI or MPICH.
#pragma once

#include <castnet/comm/detail/mpi_messages.hpp>
#include <castnet/core/text.hpp>

#include <algorithm>
#include <memory>
#include <span>

namespace castnet::comm {

// Communicator of all processes of the job. The first of these objects initializes MPI and the end
// of the program finalizes it, unless the program does so itself. A process that waits longer than
// timeout() for another, or for one that has ended, reports it on standard error and ends the job.
class mpi {
public:
    mpi() : job_{detail::mpi_environment::instance()} {}

    int rank() const { return job_.rank(); }
    int size() const { return job_.size(); }
    // The rank of this process among those on its machine.
    int rank_on_machine() const { return job_.rank_on_machine(); }

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
        for (auto const& o : begun_) {
            if (o->doing != done) {
                (this->*o->go_on)(*o);
            }
        }
    }
    void finish() {
        for (auto const& o : begun_) {
            wait_for(*o);
        }
    }

    // all: the bytes of every process, in the order of the ranks.
    void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const& at) {
        size_t const n = mine.size();
        std::copy_n(mine.data(), n, all.data() + size_t(rank()) * n);
        operation& o = next({at, detail::operation_kind::gathering, n});
        meet(o);
        share(o, all.data(), [=](int r) { return part{size_t(r) * n, (size_t(r) + 1) * n}; });
        wait_for(o);
    }

    // Sends rank 0's bytes to all, along a tree.
    void broadcast(std::span<std::byte> bytes, collective const& at) {
        operation& o = next({at, detail::operation_kind::broadcast, bytes.size()});
        int nearest = 1; // power of two above the rank
        while (nearest <= rank()) {
            nearest *= 2;
        }
        if (rank() > 0) {
            o.messages.expect_heading(rank() - nearest / 2, o.heading_tag());
            o.messages.receive(bytes.data(), bytes.size(), rank() - nearest / 2, o.tag());
            wait_for(o);
        }
        o.doing = sharing;
        for (int step = nearest; rank() + step < size(); step *= 2) {
            o.messages.send_heading(rank() + step, o.heading_tag());
            o.messages.send(bytes.data(), bytes.size(), rank() + step, o.tag());
        }
        wait_for(o);
    }

    // For several replicas per process, `together`: begins an operation and returns its number;
    // tests it; waits for it.
    template <class T>
    std::uint64_t begin_together(std::span<T> values, detail::exchange_kind const& kind,
                                 int together, collective const& at) {
        return begin(values, kind, at, together).number;
    }
    bool is_done(std::uint64_t number) const {
        return std::none_of(begun_.begin(), begun_.end(),
                            [=](auto const& o) { return o->number == number && o->doing != done; });
    }

    void wait_for(std::uint64_t number) {
        for (auto const& o : begun_) {
            if (o->number == number) {
                wait_for(*o);
            }
        }
    }

    // Ends the job, on all processes.
    [[noreturn]] void fail(std::string const& why) const { job_.fail(why); }

    // The last collective of this process, for error messages.
    std::string where() const {
        return begun_.empty() ? "before its first step" : "after " + begun_.back()->messages.text();
    }

    // Bytes that one process sends in a sum of `count` numbers; with unequal parts, the owner of
    // the largest.
    static constexpr size_t bytes_sent(size_t count, size_t element_bytes, int size) {
        size_t const others = size_t(size) - 1;
        return count * element_bytes <= small_message
                   ? others * count * element_bytes
                   : 2 * others * ((count + others) / size_t(size)) * element_bytes;
    }

private:
    static constexpr size_t small_message = 4096; // bytes
    enum activity { adding, sharing, done };

    struct operation {
        explicit operation(detail::mpi_environment& job) : messages{job} {}

        // Processes call the same collectives, but messages of several may be in flight.
        int heading_tag() const { return 1 + 3 * int(number % 8192); }
        int tag() const { return heading_tag() + (doing == sharing ? 2 : 1); }

        std::uint64_t number = 0;
        activity doing = sharing;
        detail::mpi_messages messages;
        std::vector<std::byte> room; // received values
        void* values = nullptr;
        std::size_t count = 0;
        detail::exchange_kind kind{};
        int together = 1;
        void (mpi::*go_on)(operation&) = nullptr;
    };

    // Every process receives its part of the numbers from all others, adds them up, and sends the
    // sums to all: as many bytes as a ring, but in an order of summation that does not depend on
    // their number. Of few numbers, where latency outweighs bandwidth, every process receives all.
    template <class T>
    operation& begin(std::span<T> values, detail::exchange_kind const& kind, collective const& at,
                     int together = 1) {
        using what = detail::operation_kind;
        operation& o = next({at,
                             kind.adds && kind.shares ? what::sum
                             : kind.adds              ? what::reduction
                                                      : what::sharing,
                             values.size_bytes()});
        o.values = values.data();
        o.count = values.size();
        o.kind = kind;
        o.together = together;
        o.go_on = &mpi::go_on<T>;
        meet(o);
        if (!kind.adds) {
            share(o, values.data(), [&](int r) { return part_for<T>(o, r); });
            return o;
        }
        o.doing = adding;
        part const mine = part_for<T>(o, rank());
        o.room.resize(stride(mine) * sizeof(T) * size_t(size()) + 64);
        for (int r = 0; r < size(); ++r) {
            if (r == rank()) {
                std::copy_n(values.data() + mine.first, mine.count(), row<T>(o, r, mine));
                continue;
            }
            part const theirs = part_for<T>(o, r);
            o.messages.receive(row<T>(o, r, mine), mine.count() * sizeof(T), r, o.tag());
            o.messages.send(values.data() + theirs.first, theirs.count() * sizeof(T), r, o.tag());
        }
        return o;
    }

    template <class T>
    void go_on(operation& o) {
        if (!o.messages.done()) {
            return;
        }
        if (o.doing == adding) {
            part const mine = part_for<T>(o, rank());
            detail::tree_sum([&](int r) { return row<T>(o, r, mine); }, size(), 0, mine.count());
            auto* const values = static_cast<T*>(o.values);
            std::copy_n(row<T>(o, 0, mine), mine.count(), values + mine.first);
            if (o.kind.shares && !few<T>(o)) {
                share(o, values, [&](int r) { return part_for<T>(o, r); });
                return;
            }
        }
        o.doing = done;
    }
    void end_sharing(operation& o) {
        if (o.messages.done()) {
            o.doing = done;
        }
    }

    template <class T>
    static bool few(operation const& o) {
        return o.kind.adds && o.kind.shares && o.count * sizeof(T) <= small_message;
    }
    template <class T>
    part part_for(operation const& o, int r) const {
        return few<T>(o)                      ? part{0, o.count}
               : o.kind.adds && o.kind.shares ? part_of(o.count, r, size())
                                              : o.kind.to.of(o.count, r, size(), o.together);
    }
    static size_t stride(part const& p) { return (p.count() + 15) / 16 * 16; }
    template <class T>
    static T* row(operation& o, int r, part const& mine) {
        auto const address = reinterpret_cast<std::uintptr_t>(o.room.data());
        return reinterpret_cast<T*>((address + 63) / 64 * 64) + size_t(r) * stride(mine);
    }

    // Every process sends its heading to all.
    void meet(operation& o) {
        for (int r = 0; r < size(); ++r) {
            if (r != rank()) {
                o.messages.expect_heading(r, o.heading_tag());
                o.messages.send_heading(r, o.heading_tag());
            }
        }
    }

    // Every process sends its part to all.
    template <class T, class Part>
    void share(operation& o, T* values, Part const& part_of_rank) {
        o.doing = sharing;
        part const mine = part_of_rank(rank());
        for (int r = 0; r < size(); ++r) {
            if (r != rank()) {
                part const theirs = part_of_rank(r);
                o.messages.receive(values + theirs.first, theirs.count() * sizeof(T), r, o.tag());
                o.messages.send(values + mine.first, mine.count() * sizeof(T), r, o.tag());
            }
        }
    }

    // A new operation, in the object of a completed one if there is one.
    operation& next(detail::heading const& what) {
        auto const old = std::find_if(begun_.begin(), begun_.end(),
                                      [](auto const& o) { return o->doing == done; });
        if (old == begun_.end()) {
            begun_.push_back(std::make_unique<operation>(job_));
        } else {
            std::rotate(old, old + 1, begun_.end()); // in the order of their begin
        }
        operation& o = *begun_.back();
        o.number = made_++;
        o.messages.belong_to(what);
        o.doing = sharing;
        o.go_on = &mpi::end_sharing;
        return o;
    }

    void wait_for(operation& o) {
        int polls = 0;
        bool const all_came = detail::wait_until([&] {
            progress();
            if (o.doing != done && ++polls % 64 == 0) {
                o.messages.look_for_faults();
            }
            return o.doing == done;
        });
        if (!all_came) {
            job_.fail(string_of({o.messages.text(), ": waited ", timeout(), " s for rank ",
                                 o.messages.late(), "; see comm::timeout()"}));
        }
    }

    detail::mpi_environment& job_;
    std::vector<std::unique_ptr<operation>> begun_;
    std::uint64_t made_ = 0;
};

static_assert(Communicator<mpi>);

} // namespace castnet::comm
