// A view of a name is no name.
// expect: castnet: partial::rename is a function from a name of the network to the name in the file
#include <castnet/castnet.hpp>

#include <string_view>

namespace cn = castnet;

cn::partial const how{.rename = [](std::string_view name) { return name.substr(2); }};
