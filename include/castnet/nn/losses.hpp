// All losses.
#pragma once

#include <castnet/nn/binary_losses.hpp>
#include <castnet/nn/class_weighted.hpp>
#include <castnet/nn/classification_losses.hpp>
#include <castnet/nn/ctc.hpp>
#include <castnet/nn/dice.hpp>
#include <castnet/nn/likelihood_losses.hpp>
#include <castnet/nn/margin_losses.hpp>
#include <castnet/nn/output_losses.hpp>
#include <castnet/nn/regression_losses.hpp>
#include <castnet/nn/similarity_losses.hpp>
