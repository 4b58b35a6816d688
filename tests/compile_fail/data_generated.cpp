// expect: castnet: data::generated takes one function for each input, then one for each target
// expect: one_function_each<2U*L*, 1U*L*>
#include <castnet/data.hpp>

using namespace castnet;

auto const data_set = data::generated<data::label<2>, shape<3>>(10, [](size_t, auto) {});
