// Owner of a handle of CUDA or of one of its libraries, or of memory.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::cuda {

// Calls Release with what it holds, unless that is nullptr. It can be moved, not copied. (nvcc
// needs 3 MiB of memory for each std::unique_ptr.)
template <class Handle, auto Release>
class owned {
public:
    owned() = default;
    explicit owned(Handle held) : held_{held} {}
    owned(owned&& other) noexcept : held_{other.held_} { other.held_ = nullptr; }
    owned& operator=(owned&& other) noexcept {
        Handle const mine = held_;
        held_ = other.held_;
        other.held_ = mine;
        return *this;
    }
    ~owned() {
        if (held_ != nullptr) {
            Release(held_);
        }
    }

    Handle get() const { return held_; }
    Handle operator->() const { return held_; }

private:
    Handle held_ = nullptr;
};

} // namespace castnet::cuda
