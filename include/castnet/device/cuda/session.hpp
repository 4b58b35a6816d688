// Session on one GPU: its index, streams and libraries.
#pragma once

#include <castnet/device/cuda/context.hpp>
#include <castnet/device/cuda/description.hpp>
#include <castnet/device/cuda/libraries.hpp>
#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/cuda/open_gpu.hpp>
#include <castnet/device/cuda/stream.hpp>
#include <castnet/device/cuda/watchdog.hpp>

#include <string>
#include <vector>

namespace castnet::cuda {

// Scope of a replica's thread. Threads that serve a GPU each share nothing.
struct replica_scope {
    constexpr replica_scope(int, int) {}
};

class session {
public:
    // Throws castnet::error with advice if there is no driver, no such GPU, or if it cannot run
    // this program.
    template <class Policy>
    explicit session(Policy, int index = Policy::device_index)
        : index_{open_gpu(index, "policy::cuda", "policy::cpu")}, precision_{Policy::precision},
          use_graphs_{Policy::use_graphs}, budget_{Policy::budget},
          libraries_{compute_, Policy::algorithms} {}
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session() { finish(); }

    // Makes this GPU current and waits for the session's work, before its memory is freed.
    void finish() const noexcept {
        cudaSetDevice(index_);
        cudaStreamSynchronize(compute().get());
        cudaStreamSynchronize(copies().get());
    }

    int index() const { return index_; }
    bool use_graphs() const { return use_graphs_; }
    std::size_t budget() const { return budget_; } // bytes
    product_precision precision() const { return precision_; }
    stream const& compute() const { return compute_; }
    stream const& copies() const { return copies_; }
    libraries& library() const { return libraries_; }

    // The watchdog of the host's waits for this GPU from now on; nullptr: none.
    void set_watchdog(watchdog* w) const { watchdog_ = w; }

    // Waits on the host for a stream, an event, or both streams of the session.
    void wait(stream const& s) const {
        until(s, [&] { s.wait(); });
    }
    void wait(event const& e) const {
        until(e, [&] { e.wait(); });
    }
    void wait() const {
        wait(compute());
        wait(copies());
    }

    // Makes this GPU the calling thread's current one.
    void use() const { CASTNET_CUDA(cudaSetDevice(index_)); }

    // Zeroed memory of this GPU. Throws castnet::error that names its purpose if there is too
    // little.
    memory allocate(std::size_t bytes, char const* what = "an array") const {
        use();
        return memory{bytes, what};
    }

    // Calls use(numbers) with a copy of `count` numbers of the GPU's memory, or writes there the
    // numbers of fill(numbers). Both wait for earlier work of the session's streams.
    template <class T, class F>
    void read(T const* from, std::ptrdiff_t count, F const& use_numbers) const {
        std::vector<T> host(static_cast<std::size_t>(count));
        copy(host.data(), from, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
        use_numbers(static_cast<T const*>(host.data()));
    }
    template <class T, class F>
    void write(T* to, std::ptrdiff_t count, F const& fill) const {
        std::vector<T> host(static_cast<std::size_t>(count));
        fill(host.data());
        copy(to, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    }

private:
    void copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind way) const {
        wait();
        if (bytes > 0) {
            CASTNET_CUDA(cudaMemcpyAsync(to, from, bytes, way, copies().get()));
            copies().wait(); // no watchdog ends this: the host's numbers must outlive the copy
        }
    }

    template <class Work, class Wait>
    void until(Work const& work, Wait const& plain) const {
        use();
        if (watchdog_ == nullptr) {
            plain();
        } else {
            watchdog_->until([&] { return work.is_done(); });
        }
    }

    int index_;
    product_precision precision_;
    bool use_graphs_;
    std::size_t budget_;
    mutable watchdog* watchdog_ = nullptr;
    stream compute_, copies_;
    mutable libraries libraries_;
};

} // namespace castnet::cuda
