// Loops over time do not nest.
// expect: castnet: the cell of a scan contains a scan or a recurrent layer, but loops over time do not
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct nests {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<>{},
                        [](auto x_t, auto sum) {
                            return sum + cn::scan(x_t, cn::shape<>{}, [](auto y, auto h) {
                                             return cn::sin(y + h);
                                         }).last;
                        })
            .outputs;
    }
};
using net = cn::network<nests{}, cn::input<6, 2>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
auto y = model.predict(std::array<float, 12>{});
