// Owning wrapper of a descriptor of cuDNN's backend API.
#pragma once

#include <castnet/device/cuda/cudnn/status.hpp>
#include <castnet/device/cuda/owned.hpp>

#include <cstdint>
#include <vector>

namespace castnet::cuda::cudnn {

// cuDNN's attribute type of a C++ type.
template <class T>
inline constexpr cudnnBackendAttributeType_t type_of = T::unknown;
template <>
inline constexpr auto type_of<std::int64_t> = CUDNN_TYPE_INT64;
template <>
inline constexpr auto type_of<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr auto type_of<char> = CUDNN_TYPE_CHAR;
template <>
inline constexpr auto type_of<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr auto type_of<double> = CUDNN_TYPE_DOUBLE;
template <>
inline constexpr auto type_of<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <>
inline constexpr auto type_of<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr auto type_of<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <>
inline constexpr auto type_of<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <>
inline constexpr auto type_of<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <>
inline constexpr auto type_of<cudnnBackendNumericalNote_t> = CUDNN_TYPE_NUMERICAL_NOTE;

class descriptor {
public:
    explicit descriptor(cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t made = nullptr;
        CASTNET_CUDA(cudnnBackendCreateDescriptor(type, &made));
        held_ = owner{made};
    }

    cudnnBackendDescriptor_t get() const { return held_.get(); }

    template <class T>
    void set(cudnnBackendAttributeName_t name, T const& value) {
        set(name, type_of<T>, 1, &value);
    }
    template <class T>
    void set(cudnnBackendAttributeName_t name, std::vector<T> const& values) {
        set(name, type_of<T>, static_cast<std::int64_t>(values.size()), values.data());
    }
    void set(cudnnBackendAttributeName_t name, descriptor const& value) {
        cudnnBackendDescriptor_t const held = value.get();
        set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &held);
    }
    void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
             void const* values) {
        CASTNET_CUDA(cudnnBackendSetAttribute(get(), name, type, count, values));
    }

    void finalize() { CASTNET_CUDA(cudnnBackendFinalize(get())); }

    // Finalizes the descriptor; false if cuDNN does not support it, such as an engine.
    bool can_finalize() { return cudnnBackendFinalize(get()) == CUDNN_STATUS_SUCCESS; }

    template <class T>
    T number(cudnnBackendAttributeName_t name) const {
        T value{};
        std::int64_t count = 0;
        CASTNET_CUDA(cudnnBackendGetAttribute(get(), name, type_of<T>, 1, &count, &value));
        return value;
    }
    template <class T>
    std::vector<T> numbers(cudnnBackendAttributeName_t name) const {
        std::vector<T> values(static_cast<std::size_t>(count(name, type_of<T>)));
        std::int64_t count = 0;
        CASTNET_CUDA(cudnnBackendGetAttribute(get(), name, type_of<T>,
                                              static_cast<std::int64_t>(values.size()), &count,
                                              values.data()));
        values.resize(static_cast<std::size_t>(count));
        return values;
    }
    std::vector<descriptor> descriptors(cudnnBackendAttributeName_t name,
                                        cudnnBackendDescriptorType_t type) const {
        std::vector<descriptor> found;
        std::vector<cudnnBackendDescriptor_t> raw;
        for (auto n = count(name, CUDNN_TYPE_BACKEND_DESCRIPTOR); n > 0; --n) {
            raw.push_back(found.emplace_back(type).get());
        }
        std::int64_t filled = 0;
        CASTNET_CUDA(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              static_cast<std::int64_t>(raw.size()), &filled,
                                              raw.data()));
        found.erase(found.begin() + filled, found.end());
        return found;
    }

private:
    std::int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
        std::int64_t n = 0;
        CASTNET_CUDA(cudnnBackendGetAttribute(get(), name, type, 0, &n, nullptr));
        return n;
    }

    using owner = owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>;
    owner held_;
};

} // namespace castnet::cuda::cudnn
