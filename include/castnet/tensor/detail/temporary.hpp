// Temporary tensor in an expression, in whose memory the expression can be computed.
#pragma once

#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/evaluate.hpp>
#include <castnet/tensor/elementwise.hpp>

#include <tuple>
#include <type_traits>

namespace castnet::detail {

// Whether an expression keeps a tensor of this type, as it does with temporaries, and has elements
// of the same type and shape.
template <class X, class Tensor>
inline constexpr bool keeps = std::is_same_v<X, Tensor>;
template <fn F, class T, class S, class... X, class Device>
inline constexpr bool keeps<elementwise_expression<F, T, S, X...>, tensor<T, S, Device>> =
    (keeps<X, tensor<T, S, Device>> || ...);

// And whether that has memory to give away.
template <class X, class Tensor>
inline constexpr bool keeps_memory =
    !std::is_same_v<X, Tensor> &&
    (!is_host<typename Tensor::device_type> ||
     Tensor::size() * sizeof(typename Tensor::value_type) > most_bytes_in_place) &&
    keeps<X, Tensor>;

// The last of them.
template <class Tensor, class X>
Tensor& kept_tensor(X& x) {
    if constexpr (std::is_same_v<X, Tensor>) {
        return x;
    } else {
        return std::apply(
            []<class... Operand>(Operand&... operand) -> Tensor& {
                Tensor* found = nullptr;
                auto const look = [&]<class One>(One& one) {
                    if constexpr (keeps<One, Tensor>) {
                        found = &kept_tensor<Tensor>(one);
                    }
                };
                (look(operand), ...);
                return *found;
            },
            x.operands());
    }
}

// That tensor, with the value of x.
template <class Tensor, class X>
Tensor& computed_in_kept(X& x) {
    Tensor& result = kept_tensor<Tensor>(x);
    write_on(result.view(), x);
    return result;
}

} // namespace castnet::detail
