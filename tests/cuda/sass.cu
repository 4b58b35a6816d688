// Kernels whose instructions sass.py counts, and all of castnet's own, which may neither keep
// anything in local memory nor divide numbers of 64 bits.
#include <castnet/device/cuda/context.hpp>
#include <castnet/device/cuda/few_channels.hpp>
#include <castnet/device/cuda/gather.hpp>
#include <castnet/device/cuda/gradients.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/norm.hpp>
#include <castnet/device/cuda/tensor/evaluate_body.hpp>
#include <castnet/device/cuda/tensor/reduce_source.hpp>
#include <castnet/optim/adam.hpp>

namespace cn = castnet;
namespace cuda = castnet::cuda;
using cn::fn;
using cn::ir::instruction;
using cn::ir::opcode;

namespace {

constexpr instruction load(int array, int variation, bool bf16 = false) {
    return {opcode::load, {}, -1, std::uint8_t(array), std::uint8_t(variation), std::uint8_t(bf16)};
}
template <class... Register>
constexpr instruction apply(fn function, Register... from) {
    return {opcode::apply, function, -1, std::uint8_t(from)...};
}
constexpr instruction store(bool bf16, int of) {
    return {opcode::store, {}, -1, std::uint8_t(bf16), 0, 0, std::uint8_t(of)};
}
constexpr instruction sum(int keep, int of) {
    return {opcode::reduce, {}, -1, 0, std::uint8_t(keep), 0, std::uint8_t(of)};
}
// Times the gradient that arrives, by the value that it has returned.
constexpr instruction derivative_of_relu(int value, int gradient) {
    return {opcode::apply, fn::relu, 0, 255, std::uint8_t(value), std::uint8_t(gradient)};
}
constexpr instruction present{opcode::sample_mask, {}, -1, 7};

// Of batch normalisation, with images in bfloat16 or float.
template <bool Bf16>
using normalize =
    cn::ir::program<load(0, 7, Bf16), load(1, 4), load(2, 4), load(3, 4), load(4, 4),
                    apply(fn::normalize, 0, 1, 2, 3, 4), apply(fn::relu, 5), store(Bf16, 6)>;
template <bool Bf16>
using normalize_gradient =
    cn::ir::program<load(0, 7, Bf16), load(1, 7, Bf16), load(2, 4), load(3, 4), load(4, 4),
                    load(5, 4), load(6, 4), present,
                    apply(fn::normalize_gradient, 0, 1, 2, 3, 4, 5, 6, 7), store(Bf16, 8)>;
// The sums over samples and pixels of g and of g times the normalised x.
template <bool Bf16>
using two_sums = cn::ir::program<load(0, 7, Bf16), load(1, 7, Bf16), load(2, 4), load(3, 4),
                                 apply(fn::subtract, 1, 2), apply(fn::multiply, 0, 4),
                                 apply(fn::multiply, 5, 3), sum(4, 0), sum(4, 6)>;
// The same of the sum of two gradients behind relu, which is stored, too.
using stored_two_sums =
    cn::ir::program<load(0, 7, true), load(1, 7, true), apply(fn::add, 0, 1), load(2, 7, true),
                    derivative_of_relu(3, 2), load(3, 7, true), load(4, 4),
                    apply(fn::subtract, 5, 6), apply(fn::multiply, 4, 7), load(5, 4),
                    apply(fn::multiply, 8, 9), store(true, 4), sum(4, 10), sum(4, 4)>;
template <int Keep>
using one_sum = cn::ir::program<load(0, 7), sum(Keep, 0)>;

// Of layer normalisation, by rows: the mean, the variance, and the normalised channels.
constexpr instruction sum_of_row(int of, int factor, int result) {
    return {opcode::reduce,          {}, -1, 0, 3, 0, std::uint8_t(of), std::uint8_t(result + 1),
            std::uint8_t(factor + 1)};
}
constexpr instruction scalar(int which) {
    return {opcode::constant, {}, -1, std::uint8_t(which)};
}
using layer_norm =
    cn::ir::program<load(0, 7), sum_of_row(0, 0, 1), //
                    load(0, 7), scalar(1), apply(fn::squared_difference, 0, 1), sum_of_row(2, 0, 2),
                    load(0, 7), scalar(1), scalar(2), load(1, 4), load(2, 4),
                    apply(fn::normalize, 0, 1, 2, 3, 4), store(false, 5)>;

template <class Program>
using sums = cuda::reduce_body<cuda::program_source<Program, float>,
                               cn::ir::reducer<cn::ir::reduction::sum, float>, float>;

// Of tensors: a * b + 1; a matrix and a row; sums of all, by columns and by rows.
template <std::size_t... Step>
using elements = cuda::elements<float const, Step...>;
template <class Space, class Out, class X>
using tensor_map = cuda::evaluate_body<Space, 4, Out, X>;
template <class Kept, class Reduced, class X>
using tensor_sum =
    cuda::reduce_body<cuda::expression_source<Kept, Reduced, 4, X, float, true>,
                      cuda::tensor_reducer<cn::detail::sum_reduction<float, 1>, float>, float>;
using cn::shape;

} // namespace

#define KERNEL(name, ...)                                                                          \
    extern "C" __global__ void __launch_bounds__(cuda::threads_of<__VA_ARGS__>,                    \
                                                 cuda::blocks_of<__VA_ARGS__>)                     \
        name(__grid_constant__ __VA_ARGS__ const body) {                                           \
        body(cuda::device_block{});                                                                \
    }

KERNEL(normalize_float, cuda::map_body<normalize<false>, float>)
KERNEL(normalize_bf16, cuda::map_body<normalize<true>, float>)
KERNEL(normalize_gradient_float, cuda::map_body<normalize_gradient<false>, float>)
KERNEL(normalize_gradient_bf16, cuda::map_body<normalize_gradient<true>, float>)
KERNEL(two_sums_float, sums<two_sums<false>>)
KERNEL(two_sums_bf16, sums<two_sums<true>>)
KERNEL(stored_two_sums_bf16, sums<stored_two_sums>)
KERNEL(sum_of_channels, sums<one_sum<4>>)
KERNEL(sum_of_rows, sums<one_sum<3>>)
KERNEL(sum_of_all, sums<one_sum<0>>)
template <class S>
using few_channels_weight =
    cuda::reduce_body<cuda::few_channels_weight_source<float, S>,
                      cn::ir::reducer<cn::ir::reduction::sum, float>, float>;
KERNEL(few_channels_float, cuda::few_channels_body<float, float>)
KERNEL(few_channels_bf16, cuda::few_channels_body<float, cn::bfloat16>)
KERNEL(few_channels_weight_float, few_channels_weight<float>)
KERNEL(few_channels_weight_bf16, few_channels_weight<cn::bfloat16>)
KERNEL(rows_of_layer_norm, cuda::row_program_body<layer_norm, float>)
KERNEL(max_pool_2x2, cuda::max_pool_body<float, true>)
KERNEL(max_pool_2x2_gradient, cuda::max_pool_tiles_gradient_body<float>)
KERNEL(max_pool_3x3_gradient, cuda::image_body<cuda::max_pool_gradient_rule, float>)

using adam = decltype(cn::adam{}.at<float>(1, 0.1));
KERNEL(update, cuda::optimize_body<adam, cn::adam::slots, float>)
KERNEL(widening_update,
       cuda::optimize_body<adam, cn::adam::slots, float, cuda::widened_gradients<float>>)
KERNEL(squares, cuda::square_sum<float>)
KERNEL(totals, cuda::add_totals_body<float>)
KERNEL(gather, cuda::gather_body<float, 2>)
KERNEL(widen, cuda::convert_arrays_body<cn::bfloat16, float>)
KERNEL(narrow, cuda::convert_arrays_body<float, cn::bfloat16>)
KERNEL(weigh, cuda::weigh_body<float>)

// The launchers instantiate the others.
template <cn::op... K>
void instantiate(void const* (&launcher)[sizeof...(K)]) {
    int i = 0;
    (..., (launcher[i++] =
               reinterpret_cast<void const*>(cuda::kernel_for<cuda::context<float>, K>::of())));
}
void instantiate_others() {
    using enum cn::op;
    void const* launchers[26];
    instantiate<max_pool, max_pool_gradient, avg_pool, avg_pool_gradient, upsample,
                upsample_gradient, concat, slice, slice_gradient, reverse, reshape, cache,
                attention, attention_gradient, delay, feedback, parameter_slice,
                parameter_slice_gradient, gather_rows, scatter_rows, transpose, cumulative_sum,
                unfold, fold, weight_values, weight_values_gradient>(launchers);
}
KERNEL(
    tensor_chain,
    tensor_map<shape<1048576>, cuda::elements<float, 1>,
               cuda::call<fn::add, float, cuda::call<fn::multiply, float, elements<1>, elements<1>>,
                          cuda::constant<float>>>)
KERNEL(tensor_with_row, tensor_map<shape<1000, 1000>, cuda::elements<float, 1000, 1>,
                                   cuda::call<fn::add, float, elements<1000, 1>, elements<0, 1>>>)
KERNEL(tensor_sum_of_all, tensor_sum<shape<1>, shape<1048576>, elements<1>>)
KERNEL(tensor_sum_of_columns, tensor_sum<shape<1, 1024>, shape<1024, 1>, elements<1024, 1>>)
KERNEL(tensor_sum_of_rows, tensor_sum<shape<1024, 1>, shape<1, 1024>, elements<1024, 1>>)
