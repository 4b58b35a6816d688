// Stream of a GPU on which tensors are computed, with what that takes besides: a pool of memory,
// cuBLASLt, and memory for the parts of reductions.
//
// A tensor_stream is a value: copies are the same stream. All that a thread does with tensors on a
// GPU is put on its current stream, one after the other, and the host waits only where it asks for
// numbers. The memory of a tensor belongs to the stream that was current when the tensor was made,
// and goes back to it, so a tensor that is used on another stream has to exist until that has
// ended, and each of the two waits for what it needs of the other (wait_for). One thread at a time
// may use a stream.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/libraries.hpp>
#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/cuda/open_gpu.hpp>
#include <castnet/device/cuda/owned.hpp>
#include <castnet/device/cuda/reduction_parts.hpp>
#include <castnet/device/cuda/stream.hpp>
#include <castnet/device/cuda/tuning.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace castnet::cuda {

#ifndef __CUDACC__
// Kernels need nvcc; tests define what becomes of them on the host.
template <class Body>
void launch(cudaStream_t stream, grid const& g, Body const& body);
#endif

class tensor_stream {
public:
    // A new stream of this GPU. Throws castnet::error with advice if there is no such GPU.
    explicit tensor_stream(int gpu = 0) : all_{std::make_shared<everything>(gpu)} {}

    // The calling thread's stream: that of its innermost stream_scope, else one of its own on the
    // GPU that was current when it first asked.
    static tensor_stream const& current() {
        if (!of_thread()) {
            int gpu = 0;
            if (cudaGetDevice(&gpu) != cudaSuccess) { // without a driver: the constructor says so
                cudaGetLastError();
            }
            of_thread().emplace(gpu);
        }
        return *of_thread();
    }

    int gpu() const { return all_->gpu; }
    cudaStream_t get() const { return all_->own.get(); }
    void use() const { CASTNET_CUDA(cudaSetDevice(gpu())); }

    // Whether all that was put on the stream is done; waits for that on the host.
    bool is_done() const { return all_->own.is_done(); }
    void wait() const { all_->own.wait(); }

    // Work put on this stream from now on runs after all that another one has been given so far.
    void wait_for(tensor_stream const& other) const {
        other.use();
        event const given;
        other.all_->own.record(given);
        use();
        all_->own.wait_for(given);
    }

    // Puts a kernel on the stream.
    template <class Body>
    void launch(grid const& g, Body const& body) const {
        use();
        cuda::launch(get(), g, body);
    }

    // Memory of the stream's pool, with undetermined contents, and back. What is put on the stream
    // before it is given back may use it.
    void* allocate(std::size_t bytes) const {
        use();
        void* p = nullptr;
        cudaError_t const status =
            cudaMallocFromPoolAsync(&p, bytes, all_->memory_pool.get(), get());
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw out_of_memory(
                {"castnet: a tensor takes ", bytes, " bytes, but ", gpu_memory::missing()});
        }
        CASTNET_CUDA(status);
        return p;
    }
    void give_back(void* p) const noexcept { cudaFreeAsync(p, get()); }

    // Multiplies matrices, with a factor and the product's epilogue, for which `bias` has a number
    // for each column. False where cuBLASLt has no such epilogue: then only d = a b is computed.
    bool multiply(cublas::product const& p, void const* a, void const* b, void* d,
                  void const* bias = nullptr, double factor = 1) const {
        use();
        bool const ends = p.end == CUBLASLT_EPILOGUE_DEFAULT || all_->products.prepare(p).finishes;
        all_->products.run(p, a, b, d, bias, {.of_product = ends ? factor : 1});
        return ends;
    }

    // Memory for reductions whose elements are split.
    template <class T>
    reduction_parts<T> parts() const {
        use();
        static_assert(sizeof(T) <= sizeof(double));
        if (all_->tickets.bytes() == 0) {
            all_->parts = memory(max_parts * sizeof(double), "the parts of reductions");
            all_->tickets = memory(max_tickets * sizeof(unsigned), "the parts of reductions");
        }
        return {all_->parts.as<T>(), all_->tickets.as<unsigned>()};
    }

private:
    friend class stream_scope;

    struct everything {
        explicit everything(int index) : gpu{open_gpu(index, "device::cuda", "device::cpu")} {
            cudaMemPoolProps wishes{};
            wishes.allocType = cudaMemAllocationTypePinned;
            wishes.location.type = cudaMemLocationTypeDevice;
            wishes.location.id = gpu;
            cudaMemPool_t made = nullptr;
            CASTNET_CUDA(cudaMemPoolCreate(&made, &wishes));
            memory_pool = owned_pool{made};
            // keeps what is given back, for the next tensor
            auto most = std::numeric_limits<std::uint64_t>::max();
            CASTNET_CUDA(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &most));
        }
        everything(everything const&) = delete;
        everything& operator=(everything const&) = delete;
        ~everything() {
            cudaSetDevice(gpu);
            cudaStreamSynchronize(own.get());
        }

        using owned_pool = owned<cudaMemPool_t, cudaMemPoolDestroy>;

        int gpu;
        stream own;
        owned_pool memory_pool;
        libraries products{own};
        memory parts, tickets;
    };

    static std::optional<tensor_stream>& of_thread() {
        static thread_local std::optional<tensor_stream> stream;
        return stream;
    }

    std::shared_ptr<everything> all_;
};

// Makes a stream, and its GPU, the calling thread's current one until its end.
class stream_scope {
public:
    explicit stream_scope(tensor_stream const& s) : before_{tensor_stream::of_thread()} {
        CASTNET_CUDA(cudaGetDevice(&gpu_before_));
        s.use();
        tensor_stream::of_thread() = s;
    }
    stream_scope(stream_scope const&) = delete;
    stream_scope& operator=(stream_scope const&) = delete;
    ~stream_scope() {
        tensor_stream::of_thread() = before_;
        cudaSetDevice(gpu_before_);
    }

private:
    std::optional<tensor_stream> before_;
    int gpu_before_ = 0;
};

} // namespace castnet::cuda
