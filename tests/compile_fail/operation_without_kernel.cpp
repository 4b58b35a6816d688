// An operation of the program's own has no kernel for the device of the policy.
// expect: castnet: an operation of the network has no kernel for the policy's device
// expect: operation_has_kernel<castnet::[a-z_:]*cpu_device<float>, castnet::op::own>
#include <castnet/castnet.hpp>

namespace cn = castnet;

inline constexpr auto doubled = cn::op::own;
template <>
struct cn::operation<doubled> {
    static constexpr char const* name = "doubled";
    static constexpr operation_traits traits{};
};

struct doubled_layer {
    static constexpr char const* name = "doubled";
    template <class S>
    constexpr auto operator()(cn::symbol<S> x) const {
        return cn::apply_operation<doubled, S>(x);
    }
};

using model =
    cn::model<cn::sequential<cn::input<2>, doubled_layer{}>, cn::policy::cpu, cn::batch<1>>;
auto predict(model& m) {
    return m.predict(std::array<float, 2>{1, 2});
}
