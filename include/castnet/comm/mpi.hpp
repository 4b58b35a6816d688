// Replicas that are processes, by MPI: needs castnet::mpi, that is Open MPI or MPICH.
#pragma once

#include <castnet/comm/detail/mpi_environment.hpp>

#include <algorithm>
#include <span>

namespace castnet::comm {

// All processes of the job. MPI begins with the first of these objects and ends with the program,
// unless the program does so itself. A process that waits longer than deadline() for another, or
// for one that has ended, says so on standard error and ends the job.
class mpi {
public:
    mpi() : job_{detail::mpi_environment::instance()} {}

    int rank() const { return job_.rank(); }
    int size() const { return job_.size(); }
    // Which one this is of the processes on its machine.
    int rank_on_machine() const { return job_.rank_on_machine(); }

    // Every process gets its part of the numbers from all others, adds them up, and sends the sums
    // to all: as many bytes as around a ring, but in one order whatever their number. Of few
    // numbers, where each message costs more than what is in it, every process gets all.
    template <class T>
    void sum(std::span<T> values, collective const& at) {
        bool const few = values.size_bytes() <= small_message;
        auto const part_for = [&](int r) {
            return few ? part{0, values.size()} : part_of(values.size(), r, size());
        };
        part const mine = part_for(rank());
        size_t const stride = (mine.count() + 15) / 16 * 16;
        room_.resize(stride * sizeof(T) * size_t(size()) + 64);
        T* const room = aligned<T>();
        auto const row = [=](int r) { return room + size_t(r) * stride; };
        for (int r = 0; r < size(); ++r) {
            if (r == rank()) {
                std::copy_n(values.data() + mine.first, mine.count(), row(r));
                continue;
            }
            job_.receive(row(r), mine.count() * sizeof(T), r);
            job_.send(values.data() + part_for(r).first, part_for(r).count() * sizeof(T), r);
        }
        job_.wait(at);
        detail::tree_sum(row, size(), 0, mine.count());
        std::copy_n(room, mine.count(), values.data() + mine.first);
        if (!few) {
            share(values.data(), part_for, at);
        }
    }

    // all: what every process brings, one after the other.
    void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const& at) {
        size_t const n = mine.size();
        std::copy_n(mine.data(), n, all.data() + size_t(rank()) * n);
        share(all.data(), [=](int r) { return part{size_t(r) * n, (size_t(r) + 1) * n}; }, at);
    }

    // From rank 0 to all, along a tree.
    void broadcast(std::span<std::byte> bytes, collective const& at) {
        int nearest = 1; // power of two above the rank
        while (nearest <= rank()) {
            nearest *= 2;
        }
        if (rank() > 0) {
            job_.receive(bytes.data(), bytes.size(), rank() - nearest / 2);
            job_.wait(at);
        }
        for (int step = nearest; rank() + step < size(); step *= 2) {
            job_.send(bytes.data(), bytes.size(), rank() + step);
        }
        job_.wait(at);
    }

    // Ends the job, on all processes.
    [[noreturn]] void fail(std::string const& why) { job_.fail(why); }

    // Bytes that one process sends in a sum of `count` numbers: of the largest part, if they
    // differ.
    static constexpr size_t bytes_sent(size_t count, size_t element_bytes, int size) {
        size_t const others = size_t(size) - 1;
        return count * element_bytes <= small_message
                   ? others * count * element_bytes
                   : 2 * others * ((count + others) / size_t(size)) * element_bytes;
    }

private:
    static constexpr size_t small_message = 4096; // bytes

    // Every process sends its part to all.
    template <class T, class Part>
    void share(T* values, Part const& part_of_rank, collective const& at) {
        part const mine = part_of_rank(rank());
        for (int r = 0; r < size(); ++r) {
            if (r != rank()) {
                part const theirs = part_of_rank(r);
                job_.receive(values + theirs.first, theirs.count() * sizeof(T), r);
                job_.send(values + mine.first, mine.count() * sizeof(T), r);
            }
        }
        job_.wait(at);
    }

    template <class T>
    T* aligned() {
        auto const address = reinterpret_cast<std::uintptr_t>(room_.data());
        return reinterpret_cast<T*>((address + 63) / 64 * 64);
    }

    detail::mpi_environment& job_;
    std::vector<std::byte> room_; // what the others sent
};

} // namespace castnet::comm
