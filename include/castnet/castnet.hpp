// castnet: neural networks, cast at compile time. Everything that needs a C++20 compiler only.
#pragma once

#include <castnet/core/bytes.hpp>
#include <castnet/data/fashion_mnist.hpp>
#include <castnet/data/on_device.hpp>
#include <castnet/data/synthetic.hpp>
#include <castnet/nn/activations.hpp>
#include <castnet/nn/auc.hpp>
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/precision_recall.hpp>
#include <castnet/nn/regression_metrics.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/optim/clipping.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/tensor/tensor.hpp>
#include <castnet/train/checkpoint.hpp>
#include <castnet/train/partial_load.hpp>
#include <castnet/train/predictor.hpp>
#include <castnet/train/profile.hpp>
#include <castnet/train/summary.hpp>
#include <castnet/train/training.hpp>
#include <castnet/version.hpp>
