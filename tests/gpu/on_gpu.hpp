// Networks and trainings of the other folders on a GPU, in double.
#pragma once

#include <castnet/cuda.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace check {

using policy = castnet::policy::basic_cuda<double>;

// For tests that look into memory: it is visible to the host and to the GPU, and a run has ended
// when it returns.
struct device : castnet::cuda_device<double> {
    class memory {
    public:
        explicit memory(std::size_t bytes) {
            void* p = nullptr;
            CASTNET_CUDA(cudaMallocManaged(&p, bytes));
            data_.reset(p);
            std::memset(p, 0, bytes);
        }
        template <class T>
        T* as() const {
            return static_cast<T*>(data_.get());
        }

    private:
        struct release {
            void operator()(void* p) const { cudaFree(p); }
        };
        std::unique_ptr<void, release> data_;
    };

    struct context {
        double* region[4]{};
        std::ptrdiff_t samples = 0;
        castnet::philox_key key{};
        std::uint32_t step = 0;

        double* at(castnet::ir::array_ref const& r) const {
            return region[static_cast<int>(r.where)] + r.offset;
        }
    };

    // One for all tests. It never ends: when the program does, the libraries may end first.
    static castnet::cuda::session const& gpu() {
        static auto const& one = *new castnet::cuda::session{policy{}};
        return one;
    }

    template <auto const& Plan>
    static void run(context const& from) {
        gpu().use();
        memory const values{sizeof(castnet::cuda::step_values)};
        castnet::cuda::context<double> c;
        std::copy(from.region, from.region + 4, c.region);
        c.samples = Plan.batch;
        c.key = from.key;
        c.now = values.as<castnet::cuda::step_values>();
        c.stream = gpu().compute().get();
        c.library = &gpu().library();
        *values.as<castnet::cuda::step_values>() = {from.step, 0};
        castnet::cuda_device<double>::run<Plan>(c);
        gpu().compute().wait();
    }
};

} // namespace check
