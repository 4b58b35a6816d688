// expect: castnet: data::stream: open\(\) returns a function that writes the next sample
// expect: stream_reader<
#include <castnet/data.hpp>

using namespace castnet;

auto const data_set =
    data::stream<data::label<2>, shape<3>>(10, [] { return [](auto) { return true; }; });
float x[3];
auto const weighed = [] { data_set.copy_input(0, x); };
