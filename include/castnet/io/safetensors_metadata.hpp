// Metadata of safetensors files.
#pragma once

#include <castnet/core/language.hpp>

#include <map>
#include <string>

namespace castnet::io {

// Free text that travels with the tensors.
using safetensors_metadata = std::map<std::string, std::string>;

} // namespace castnet::io
