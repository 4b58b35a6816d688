// sort, argsort, largest, cumsum, unique, histogram and random_permutation of tensors on a GPU, by
// CUB: as on the host (tensor/order.hpp, tensor/cumulative.hpp, tensor/random.hpp). Needs nvcc.
//
// (CUB adds floats in an order that may differ from run to run: so cumsum of them, whose sums are
// made in double, may differ in a last bit, and of doubles in the last ones.)
#pragma once

#include <castnet/device/cuda/tensor.hpp>

#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <limits>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

namespace castnet {

namespace cuda {

namespace detail {

// Calls a function of CUB twice, as it wants: for the bytes of its workspace, and with that.
template <class Call>
void with_workspace(Call const& call) {
    auto const& stream = tensor_stream::current();
    stream.use();
    std::size_t bytes = 0;
    CASTNET_CUDA(call(nullptr, bytes, stream.get()));
    tensor_memory const workspace{bytes};
    CASTNET_CUDA(call(workspace.get(), bytes, stream.get()));
}

// Numbers that f makes of positions or elements, for CUB to read.
template <class F>
auto numbers_of_positions(F const& f) {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), f);
}
template <class T, class F>
auto numbers_of_elements(T const* x, F const& f) {
    return thrust::make_transform_iterator(x, f);
}

struct multiple_of {
    std::int64_t factor;
    CASTNET_HD std::int64_t operator()(std::int64_t i) const { return i * factor; }
};
template <class Index>
struct row_of_position {
    Index length;
    CASTNET_HD Index operator()(std::int64_t i) const { return static_cast<Index>(i) / length; }
};
template <class To>
struct as_number {
    template <class T>
    CASTNET_HD To operator()(T x) const {
        return static_cast<To>(x);
    }
};
struct bin_of_element {
    double low, high;
    int bins;
    template <class T>
    CASTNET_HD int operator()(T x) const {
        return castnet::detail::bin_of(x, low, high, bins);
    }
};

// out[i] = f(i), for i < count.
template <class T, class F>
struct fill_body {
    T* out;
    std::uint64_t count;
    F f;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        std::uint64_t const i = std::uint64_t{block.index()} * block.threads() + block.thread();
        if (i < count) {
            out[i] = f(i);
        }
    }
};

struct place_in_row {
    std::uint64_t length;
    CASTNET_HD std::size_t operator()(std::uint64_t i) const { return i % length; }
};
struct word_of_position {
    philox_key key;
    std::uint64_t stream;
    CASTNET_HD std::uint64_t operator()(std::uint64_t i) const {
        return castnet::detail::permutation_word(key, stream, i);
    }
};

template <class T, class S, class F>
auto filled(F const& f) {
    auto result = tensor<T, S, device::cuda>::empty();
    tensor_stream::current().launch(grid_of_threads(S::count),
                                    fill_body<T, F>{result.data().get(), S::count, f});
    return result;
}

// The values of an expression, every NaN as the one that CUB puts last.
template <class X>
auto sortable(X const& x) {
    using T = typename X::value_type;
    if constexpr (std::is_floating_point_v<T>) {
        return evaluate(where(x == x, x, std::numeric_limits<T>::quiet_NaN()));
    } else {
        return evaluate(x);
    }
}

template <class S>
inline constexpr std::int64_t row_length = S::extent[S::rank - 1];

template <class Keys, class Places>
struct sorted_pairs {
    Keys keys;
    Places places; // along the last axis
};

// The elements of each row in order, with the positions where they were; equal ones as they were.
template <bool Descending, class T, class S>
auto sort_pairs(tensor<T, S, device::cuda> const& x) {
    constexpr std::int64_t length = row_length<S>, count = S::count;
    auto const before = filled<std::size_t, S>(place_in_row{length});
    sorted_pairs<tensor<T, S, device::cuda>, tensor<std::size_t, S, device::cuda>> after{
        tensor<T, S, device::cuda>::empty(), tensor<std::size_t, S, device::cuda>::empty()};
    T const* const keys = x.data().get();
    T* const sorted_keys = after.keys.data().get();
    std::size_t const* const places = before.data().get();
    std::size_t* const sorted_places = after.places.data().get();
    with_workspace([&](void* room, std::size_t& bytes, cudaStream_t stream) {
        auto const begins = numbers_of_positions(multiple_of{length});
        if constexpr (count == length && Descending) {
            return cub::DeviceRadixSort::SortPairsDescending(room, bytes, keys, sorted_keys, places,
                                                             sorted_places, count, 0,
                                                             int{8 * sizeof(T)}, stream);
        } else if constexpr (count == length) {
            return cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted_keys, places,
                                                   sorted_places, count, 0, int{8 * sizeof(T)},
                                                   stream);
        } else if constexpr (Descending) {
            return cub::DeviceSegmentedSort::StableSortPairsDescending(
                room, bytes, keys, sorted_keys, places, sorted_places, count, count / length,
                begins, begins + 1, stream);
        } else {
            return cub::DeviceSegmentedSort::StableSortPairs(room, bytes, keys, sorted_keys, places,
                                                             sorted_places, count, count / length,
                                                             begins, begins + 1, stream);
        }
    });
    return after;
}

} // namespace detail

} // namespace cuda

template <GpuExpression X>
auto sort(X const& x) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sort");
    constexpr std::int64_t length = cuda::detail::row_length<S>, count = S::count;
    auto const values = cuda::detail::sortable(x);
    auto sorted = tensor<T, S, device::cuda>::empty();
    T const* const from = values.data().get();
    T* const to = sorted.data().get();
    cuda::detail::with_workspace([&](void* room, std::size_t& bytes, cudaStream_t stream) {
        if constexpr (count == length) {
            return cub::DeviceRadixSort::SortKeys(room, bytes, from, to, count, 0,
                                                  int{8 * sizeof(T)}, stream);
        } else {
            auto const begins =
                cuda::detail::numbers_of_positions(cuda::detail::multiple_of{length});
            return cub::DeviceSegmentedSort::SortKeys(room, bytes, from, to, count, count / length,
                                                      begins, begins + 1, stream);
        }
    });
    return sorted;
}

template <GpuExpression X>
auto argsort(X const& x) {
    static_assert(detail::has_last_axis<typename X::shape_type>,
                  "castnet: a tensor of rank 0 has no axis to sort");
    return cuda::detail::sort_pairs<false>(cuda::detail::sortable(x)).places;
}

template <size_t K, GpuExpression X>
auto largest(X const& x) {
    using S = typename X::shape_type;
    using part = detail::with_last_extent<S, K>;
    static_assert(detail::has_range < S, S::rank == 0 ? 0 : S::rank - 1, 0, K >,
                  "castnet: largest needs at least one element and no more than the last axis has");
    auto const all = cuda::detail::sort_pairs<true>(cuda::detail::sortable(x));
    using values = tensor<typename X::value_type, part, device::cuda>;
    using indices = tensor<size_t, part, device::cuda>;
    return largest_values<values, indices>{values(slice<S::rank - 1, 0, K>(all.keys)),
                                           indices(slice<S::rank - 1, 0, K>(all.places))};
}

template <GpuExpression X>
auto cumsum(X const& x) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sum along");
    constexpr std::int64_t length = cuda::detail::row_length<S>, count = S::count;
    auto const& values = detail::in_order(x);
    auto sums = tensor<detail::sum_result<T>, S, device::cuda>::empty();
    auto const from = cuda::detail::numbers_of_elements(
        values.data().get(), cuda::detail::as_number<detail::sum_accumulator<T>>{});
    auto* const to = sums.data().get();
    cuda::detail::with_workspace([&](void* room, std::size_t& bytes, cudaStream_t stream) {
        if constexpr (count == length) {
            return cub::DeviceScan::InclusiveSum(room, bytes, from, to, count, stream);
        } else {
            using index = cuda::index_of<S>; // (CUB spills registers with wider keys)
            auto const rows = cuda::detail::numbers_of_positions(
                cuda::detail::row_of_position<index>{static_cast<index>(length)});
            return cub::DeviceScan::InclusiveSumByKey(room, bytes, rows, from, to, count,
                                                      ::cuda::std::equal_to<>{}, stream);
        }
    });
    return sums;
}

// To the host, which waits for it.
template <GpuExpression X>
auto unique(X const& x) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    auto const& values = detail::in_order(x);
    auto const ordered = sort(reshape<S::count>(values));
    auto different = tensor<T, shape<S::count>, device::cuda>::empty();
    tensor<std::int64_t, shape<1>, device::cuda> count;
    cuda::detail::with_workspace([&](void* room, std::size_t& bytes, cudaStream_t stream) {
        return cub::DeviceSelect::Unique(room, bytes, ordered.data().get(), different.data().get(),
                                         count.data().get(), std::int64_t{S::count}, stream);
    });
    auto const found = static_cast<size_t>(count.item());
    auto all = tensor<T, shape<S::count>>::empty();
    auto const& stream = cuda::tensor_stream::current();
    cuda::detail::copy_bytes(all.data(), different.data().get(), found * sizeof(T),
                             cudaMemcpyDeviceToHost, stream);
    stream.wait();
    // (CUB leaves all NaN)
    return detail::without_repeats(std::vector<T>(all.data(), all.data() + found));
}

template <size_t Bins, GpuExpression X>
auto histogram(X const& x, double low, double high) {
    using S = typename X::shape_type;
    static_assert(detail::has_bins<Bins>, "castnet: a histogram has at least one bin");
    static_assert(detail::counts_in_31_bits<S>,
                  "castnet: a histogram on a GPU takes fewer than 2^31 elements");
    detail::check_range(low, high);
    constexpr int bins = static_cast<int>(Bins);
    auto const& values = detail::in_order(x);
    tensor<unsigned, shape<Bins>, device::cuda> counts;
    auto const from = cuda::detail::numbers_of_elements(
        values.data().get(), cuda::detail::bin_of_element{low, high, bins});
    cuda::detail::with_workspace([&](void* room, std::size_t& bytes, cudaStream_t stream) {
        return cub::DeviceHistogram::HistogramEven(room, bytes, from, counts.data().get(), bins + 1,
                                                   0, bins, static_cast<int>(S::count), stream);
    });
    return tensor<size_t, shape<Bins>, device::cuda>(counts);
}

template <size_t N, class Device>
    requires(std::is_same_v<Device, device::cuda>)
tensor<size_t, shape<N>, device::cuda> random_permutation(std::uint64_t seed,
                                                          std::uint64_t stream = 0) {
    return argsort(cuda::detail::filled<std::uint64_t, shape<N>>(
        cuda::detail::word_of_position{key_of(seed), stream}));
}

} // namespace castnet
