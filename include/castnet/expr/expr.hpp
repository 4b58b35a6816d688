// All element-wise functions.
#pragma once

#include <castnet/expr/activation.hpp>
#include <castnet/expr/arithmetic.hpp>
#include <castnet/expr/callables.hpp>
#include <castnet/expr/compare.hpp>
#include <castnet/expr/function.hpp>
#include <castnet/expr/gamma.hpp>
#include <castnet/expr/hyperbolic.hpp>
#include <castnet/expr/logaddexp.hpp>
#include <castnet/expr/logistic_loss.hpp>
#include <castnet/expr/math.hpp>
#include <castnet/expr/normalize.hpp>
#include <castnet/expr/rectifier.hpp>
#include <castnet/expr/remainder.hpp>
#include <castnet/expr/rounding.hpp>
#include <castnet/expr/trigonometry.hpp>
