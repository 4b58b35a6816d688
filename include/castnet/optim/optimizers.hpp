// Optimizers, with the definitions and defaults of PyTorch, or of the paper where PyTorch has none.
// The weight decay of all but adamw, lamb, lion and muon is added to the gradient.
#pragma once

#include <castnet/optim/adagrad.hpp>
#include <castnet/optim/adam.hpp>
#include <castnet/optim/lamb.hpp>
#include <castnet/optim/lion.hpp>
#include <castnet/optim/muon.hpp>
#include <castnet/optim/rmsprop.hpp>
#include <castnet/optim/sgd.hpp>
