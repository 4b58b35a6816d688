// A group whose communicators are seen through another one, to record or to change what they do.
#pragma once

#include <castnet/comm/collective.hpp>

#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace replicas_test {

template <class Group, template <class> class Communicator>
class observed_group {
public:
    explicit observed_group(int local) : group_{local} {}
    int local() const { return group_.local(); }
    int first() const { return group_.first(); }
    int size() const { return group_.size(); }

    template <class F>
    void run(F const& f) {
        group_.run([&](int i, auto& others) {
            Communicator<std::remove_cvref_t<decltype(others)>> c{others};
            f(i, c);
        });
    }

private:
    Group group_;
};

// Replicas that a policy connects, through the communicator.
template <class Where, template <class> class Communicator>
struct observed : Where {
    using group = observed_group<typename Where::group, Communicator>;
};

// One collective as rank 0 made it.
struct call {
    std::string what;
    int number;
    std::uint64_t step;
    std::size_t bytes;
    friend bool operator==(call const&, call const&) = default;
};
inline std::vector<call> calls;

template <class Communicator>
struct recorder {
    Communicator& inner;

    int rank() const { return inner.rank(); }
    int size() const { return inner.size(); }
    template <class T>
    void sum(std::span<T> values, castnet::comm::collective const& at) {
        note(at, values.size_bytes());
        inner.sum(values, at);
    }
    template <class T>
    void begin_sum(std::span<T> values, castnet::comm::collective const& at) {
        note(at, values.size_bytes());
        inner.begin_sum(values, at);
    }
    template <class T>
    void begin_reduce(std::span<T> values, castnet::comm::owners const& to,
                      castnet::comm::collective const& at) {
        note(at, values.size_bytes());
        inner.begin_reduce(values, to, at);
    }
    template <class T>
    void begin_share(std::span<T> values, castnet::comm::owners const& from,
                     castnet::comm::collective const& at) {
        note(at, values.size_bytes());
        inner.begin_share(values, from, at);
    }
    void progress() { inner.progress(); }
    void finish() { inner.finish(); }
    void gather(std::span<std::byte const> mine, std::span<std::byte> all,
                castnet::comm::collective const& at) {
        note(at, mine.size());
        inner.gather(mine, all, at);
    }
    void broadcast(std::span<std::byte> bytes, castnet::comm::collective const& at) {
        note(at, bytes.size());
        inner.broadcast(bytes, at);
    }

private:
    void note(castnet::comm::collective const& at, std::size_t bytes) {
        if (rank() == 0) {
            calls.push_back({at.what, at.number, at.step, bytes});
        }
    }
};

// Adds up from rank 0 to the last, as around a ring.
template <class Communicator>
struct in_line : recorder<Communicator> {
    using recorder<Communicator>::inner;

    template <class T>
    void sum(std::span<T> values, castnet::comm::collective const& at) {
        std::vector<T> all(values.size() * std::size_t(inner.size()));
        inner.gather(std::as_bytes(values), std::as_writable_bytes(std::span{all}), at);
        for (std::size_t i = 0; i < values.size(); ++i) {
            T total = 0;
            for (std::size_t r = 0; r < std::size_t(inner.size()); ++r) {
                total += all[r * values.size() + i];
            }
            values[i] = total;
        }
    }
    template <class T>
    void begin_sum(std::span<T> values, castnet::comm::collective const& at) {
        sum(values, at);
    }
};

// Replicas that divide by their own number of samples, and whose gradients are averaged. They share
// `samples_of_step`.
inline std::size_t samples_of_step = 0;
template <class Communicator>
struct averaging : recorder<Communicator> {
    using recorder<Communicator>::inner;

    template <class T>
    void begin_sum(std::span<T> values, castnet::comm::collective const& at) {
        auto const mine = castnet::comm::part_of(samples_of_step, inner.rank(), inner.size());
        double const mean = double(samples_of_step) / (double(mine.count()) * inner.size());
        for (T& x : values) {
            x = T(double(x) * mean);
        }
        inner.begin_sum(values, at);
    }
};

// Parameters do not reach those who have not updated them.
template <class Communicator>
struct silent : recorder<Communicator> {
    template <class T>
    void begin_share(std::span<T>, castnet::comm::owners const&, castnet::comm::collective const&) {
    }
};

} // namespace replicas_test
