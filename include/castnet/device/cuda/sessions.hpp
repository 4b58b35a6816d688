// Sessions on several GPUs, which run parts of one network and copy from each other's memory.
#pragma once

#include <castnet/device/cuda/divided_memory.hpp>
#include <castnet/device/cuda/session.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace castnet::cuda {

class sessions {
public:
    // On these GPUs, one for each device; a GPU may be several devices, with streams and memory of
    // their own. Throws castnet::error as session does.
    template <class Policy>
    sessions(Policy policy, std::vector<int> const& gpus) {
        for (int const gpu : gpus) {
            all_.push_back(std::make_unique<session>(policy, gpu));
        }
        for (int d = 0; d < count(); ++d) {
            for (int other = 0; other < count(); ++other) {
                on(d, [&](session const& here) {
                    are_peers_ =
                        open(here.index(), all_[std::size_t(other)]->index()) && are_peers_;
                });
            }
        }
    }

    int count() const { return static_cast<int>(all_.size()); }
    session const& operator[](int device) const { return *all_[static_cast<std::size_t>(device)]; }

    // Whether all GPUs copy from each other's memory without the host; then steps may be graphs.
    bool are_peers() const { return are_peers_; }
    bool use_graphs() const { return are_peers_ && all_.front()->use_graphs(); }

    // Calls f(session) with the device's GPU as the current one. Errors say which it was.
    template <class F>
    decltype(auto) on(int device, F const& f) const {
        session const& here = (*this)[device];
        try {
            here.use();
            return f(here);
        } catch (error const& e) {
            throw error({e.what(), "; on GPU ", here.index(), ", device ", device,
                         " of policy::model_parallel"});
        }
    }

    void wait() const {
        for (auto const& each : all_) {
            each->wait();
        }
    }
    void finish() const noexcept {
        for (auto const& each : all_) {
            each->finish();
        }
    }

    memory allocate(int device, std::size_t bytes, char const* what) const {
        return on(device, [&](session const& here) { return here.allocate(bytes, what); });
    }

    // As of one session, with numbers that lie on one of the GPUs. Both wait for all of them, since
    // a launch on one may be work for others.
    template <class T, class F>
    void read(placed<T> const& from, std::ptrdiff_t numbers, F const& use_numbers) const {
        wait();
        on(from.device, [&](session const& here) { here.read(from.at, numbers, use_numbers); });
    }
    template <class T, class F>
    void write(placed<T> const& to, std::ptrdiff_t numbers, F const& fill) const {
        wait();
        on(to.device, [&](session const& here) { here.write(to.at, numbers, fill); });
    }
    template <class T, class F>
    void read(divided<T> const& from, std::ptrdiff_t numbers, F const& use_numbers) const {
        read(from.where(), numbers, use_numbers);
    }
    template <class T, class F>
    void write(divided<T> const& to, std::ptrdiff_t numbers, F const& fill) const {
        write(to.where(), numbers, fill);
    }

private:
    // Lets the current GPU copy from another one's memory without the host; says whether it can. It
    // stays so, since other sessions may rely on it.
    static bool open(int gpu, int other) {
        int can = 1;
        if (gpu == other) {
            return true;
        }
        CASTNET_CUDA(cudaDeviceCanAccessPeer(&can, gpu, other));
        if (can == 0) {
            return false;
        }
        cudaError_t const status = cudaDeviceEnablePeerAccess(other, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers) {
            cudaGetLastError(); // so that the next call does not report it
            return status == cudaErrorPeerAccessAlreadyEnabled;
        }
        check(status, "cudaDeviceEnablePeerAccess", __FILE__, __LINE__);
        return true;
    }

    std::vector<std::unique_ptr<session>> all_;
    bool are_peers_ = true;
};

// Copies from one device to another on the other's stream: by addresses alone, which a graph may
// hold, or by way of the host's memory (cudaMemcpyPeerAsync cannot be captured).
inline void copy_between(sessions const& gpus, void const* from, int source, void* to,
                         int destination, std::size_t bytes) {
    session const& there = gpus[destination];
    cudaStream_t const stream = there.compute().get();
    if (gpus.are_peers()) {
        CASTNET_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    } else {
        CASTNET_CUDA(
            cudaMemcpyPeerAsync(to, there.index(), from, gpus[source].index(), bytes, stream));
    }
}

} // namespace castnet::cuda
