// Callable element-wise functions: cn::exp(x) of a number, a symbol (graph/) or a tensor (tensor/).
//
// Parameterless activations are layers at the same time: a layer is whatever is callable on a
// symbol, so cn::relu stands in a network and in an expression. Those with a parameter (leaky_relu,
// elu) are layers of nn/.
#pragma once

#include <castnet/expr/function.hpp>

namespace castnet {

inline constexpr elementwise<fn::absolute> abs{};
inline constexpr elementwise<fn::sign> sign{};
inline constexpr elementwise<fn::square> square{};
inline constexpr elementwise<fn::minimum> minimum{};
inline constexpr elementwise<fn::maximum> maximum{};
inline constexpr elementwise<fn::multiply_add> multiply_add{};
inline constexpr elementwise<fn::lerp> lerp{};
inline constexpr elementwise<fn::stop_gradient> stop_gradient{};

inline constexpr elementwise<fn::floor> floor{};
inline constexpr elementwise<fn::ceil> ceil{};
inline constexpr elementwise<fn::round> round{};
inline constexpr elementwise<fn::is_nan> isnan{};
inline constexpr elementwise<fn::is_finite> isfinite{};

inline constexpr elementwise<fn::less> less{};
inline constexpr elementwise<fn::less_equal> less_equal{};
inline constexpr elementwise<fn::greater> greater{};
inline constexpr elementwise<fn::greater_equal> greater_equal{};
inline constexpr elementwise<fn::equal> equal{};
inline constexpr elementwise<fn::not_equal> not_equal{};
inline constexpr elementwise<fn::where> where{};

inline constexpr elementwise<fn::exp> exp{};
inline constexpr elementwise<fn::expm1> expm1{};
inline constexpr elementwise<fn::exp2> exp2{};
inline constexpr elementwise<fn::log> log{};
inline constexpr elementwise<fn::log1p> log1p{};
inline constexpr elementwise<fn::log2> log2{};
inline constexpr elementwise<fn::log10> log10{};
inline constexpr elementwise<fn::xlogy> xlogy{};
inline constexpr elementwise<fn::sqrt> sqrt{};
inline constexpr elementwise<fn::rsqrt> rsqrt{};
inline constexpr elementwise<fn::cbrt> cbrt{};
inline constexpr elementwise<fn::hypot> hypot{};
inline constexpr elementwise<fn::pow> pow{};
inline constexpr elementwise<fn::sin> sin{};
inline constexpr elementwise<fn::cos> cos{};
inline constexpr elementwise<fn::tan> tan{};
inline constexpr elementwise<fn::asin> asin{};
inline constexpr elementwise<fn::acos> acos{};
inline constexpr elementwise<fn::atan> atan{};
inline constexpr elementwise<fn::atan2> atan2{};
inline constexpr elementwise<fn::sinh> sinh{};
inline constexpr elementwise<fn::cosh> cosh{};
inline constexpr elementwise<fn::asinh> asinh{};
inline constexpr elementwise<fn::acosh> acosh{};
inline constexpr elementwise<fn::atanh> atanh{};
inline constexpr elementwise<fn::fmod> fmod{};
inline constexpr elementwise<fn::remainder> remainder{};
inline constexpr elementwise<fn::erf> erf{};
inline constexpr elementwise<fn::erfc> erfc{};
inline constexpr elementwise<fn::erfinv> erfinv{};
inline constexpr elementwise<fn::logit> logit{};
inline constexpr elementwise<fn::lgamma> lgamma{};
inline constexpr elementwise<fn::digamma> digamma{};
inline constexpr elementwise<fn::polygamma> polygamma{};
inline constexpr elementwise<fn::logaddexp> logaddexp{};

inline constexpr elementwise<fn::relu> relu{};
inline constexpr elementwise<fn::relu6> relu6{};
inline constexpr elementwise<fn::selu> selu{};
inline constexpr elementwise<fn::hard_sigmoid> hard_sigmoid{};
inline constexpr elementwise<fn::hard_tanh> hard_tanh{};
inline constexpr elementwise<fn::hard_silu> hard_silu{};
inline constexpr auto hard_swish = hard_silu;

inline constexpr elementwise<fn::sigmoid> sigmoid{};
inline constexpr elementwise<fn::log_sigmoid> log_sigmoid{};
inline constexpr elementwise<fn::tanh> tanh{};
inline constexpr elementwise<fn::softplus> softplus{};
inline constexpr elementwise<fn::softsign> softsign{};
inline constexpr elementwise<fn::silu> silu{};
inline constexpr auto swish = silu;
inline constexpr elementwise<fn::mish> mish{};
inline constexpr elementwise<fn::gelu> gelu{};
inline constexpr elementwise<fn::gelu_tanh> gelu_tanh{};

} // namespace castnet
