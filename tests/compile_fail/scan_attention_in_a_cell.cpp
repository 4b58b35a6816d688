// Attention in a cell, as of a decoder that reads another sequence.
// expect: or, where it needs what the cell carries, as the attention of a decoder may, write the loop
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct decodes {
    constexpr auto operator()(auto x, auto keys) const {
        return cn::scan(x, cn::shape<8>{},
                        [=](auto x_t, auto h) {
                            auto const query = cn::reshape<1, 8>(h);
                            return x_t + cn::flatten(cn::attention<2>(query, keys, keys));
                        })
            .outputs;
    }
};
using net = cn::network<decodes{}, cn::input<6, 8>, cn::input<5, 8>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
auto y = model.predict(cn::tensor<float, 1, 6, 8>{}, cn::tensor<float, 1, 5, 8>{});
