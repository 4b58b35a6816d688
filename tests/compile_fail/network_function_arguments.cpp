// The function has an argument for each input.
// expect: castnet: the function of a network cannot be called with these symbols, one for each input: constexpr auto operator\(\)\(auto x, auto y\) const for two inputs
// expect: function_takes_inputs<.*symbol<castnet::shape<2>.*symbol<castnet::shape<3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct of_three {
    constexpr auto operator()(auto a, auto b, auto c) const {
        return cn::concat(a, b, c) | cn::dense<2>;
    }
};
using net = cn::network<of_three{}, cn::input<2>, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
