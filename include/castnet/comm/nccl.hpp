// Communicator of replicas on several GPUs: NCCL for values in the GPUs' memory, a communicator of
// the host for all others. Needs castnet::nccl.
#pragma once

#include <castnet/comm/detail/nccl_connection.hpp>

#include <memory>
#include <vector>

namespace castnet::comm {

// A communicator of the host (of threads or processes), with an NCCL connection between GPUs.
template <class Host>
class nccl {
public:
    nccl(Host& host, detail::nccl_connection& connection) : host_{host}, connection_{connection} {}

    int rank() const { return host_.rank(); }
    int size() const { return host_.size(); }

    // Collectives in host memory.
    template <class T>
    void sum(std::span<T> values, collective const& at) {
        host_.sum(values, at);
    }
    template <class T>
    void begin_share(std::span<T> values, owners const& from, collective const& at) {
        host_.begin_share(values, from, at);
    }
    void finish() { host_.finish(); }
    void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const& at) {
        host_.gather(mine, all, at);
    }
    void broadcast(std::span<std::byte> bytes, collective const& at) { host_.broadcast(bytes, at); }
    // Returns when all have called it.
    void meet(collective const& at) {
        std::byte const mine{};
        std::vector<std::byte> all(static_cast<std::size_t>(size()));
        gather({&mine, 1}, all, at);
    }

    // The connection between the GPUs; this replica's is current. The first call opens it.
    detail::nccl_connection& gpus() {
        if (!connection_.is_open()) {
            connection_.open(host_);
        }
        return connection_;
    }

private:
    Host& host_;
    detail::nccl_connection& connection_;
};

// A group whose replicas have a GPU each.
template <class Group>
class with_nccl {
public:
    static constexpr bool on_gpus = true; // sums are made there
    static constexpr bool has_processes = requires { requires Group::has_processes; };

    explicit with_nccl(int local)
        : group_{local},
          connections_{std::make_unique<detail::nccl_connection[]>(std::size_t(local))} {}
    with_nccl(with_nccl const&) = delete;
    with_nccl& operator=(with_nccl const&) = delete;
    ~with_nccl() {
        try {
            group_.run([&](int i, auto&) { connections_[std::size_t(i)].close(); });
        } catch (error const&) { // of an earlier replica; the remaining ones abort
        }
    }

    int local() const { return group_.local(); }
    int first() const { return group_.first(); }
    int size() const { return group_.size(); }

    template <class F>
    void run(F const& f) {
        try {
            group_.run([&](int i, auto& host) {
                nccl all{host, connections_[std::size_t(i)]};
                f(i, all);
            });
        } catch (...) { // otherwise GPUs would wait for this replica forever
            abort();
            throw;
        }
    }

    template <class F>
    auto guarded(F const& f) {
        return group_.guarded(f);
    }

    // To be called before the host's last wait for the GPUs: if one has failed, the others must not
    // wait for it.
    void before_end() noexcept {
        for (int i = 0; i < local(); ++i) {
            if (connections_[std::size_t(i)].has_failed()) {
                abort();
            }
        }
    }

private:
    void abort() noexcept {
        for (int i = 0; i < local(); ++i) {
            connections_[std::size_t(i)].abort();
        }
    }

    Group group_;
    std::unique_ptr<detail::nccl_connection[]> connections_;
};

} // namespace castnet::comm
