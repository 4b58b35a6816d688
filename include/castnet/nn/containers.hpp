// All containers of layers: block, residual, named, shared, frozen, on.
#pragma once

#include <castnet/nn/chain.hpp>
#include <castnet/nn/frozen.hpp>
#include <castnet/nn/named.hpp>
#include <castnet/nn/on.hpp>
#include <castnet/nn/residual.hpp>
#include <castnet/nn/shared.hpp>
