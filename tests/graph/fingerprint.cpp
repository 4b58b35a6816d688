// Fingerprints of training steps: what computes something else has another one, and the first that
// differs says whether that is the network, the loss or a metric.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

template <auto... Layers>
using chain = cn::sequential<cn::input<1, 6, 6>, Layers..., cn::flatten, cn::dense<3>>;

template <class Network, auto Loss, auto... Metrics>
constexpr cn::ir::fingerprint trace() {
    cn::ir::graph g{true};
    using recipe = cn::detail::step_recipe<std::remove_const_t<decltype(Loss)>,
                                           std::remove_const_t<decltype(Metrics)>...>;
    auto const wanted = recipe::template build<Network>(g);
    return cn::ir::fingerprint_of(cn::ir::view_of(g, wanted));
}
template <class Network, auto Loss = cn::cross_entropy, auto... Metrics>
inline constexpr cn::ir::fingerprint of = trace<Network, Loss, Metrics...>();

template <auto Layer>
inline constexpr auto network_with = of<chain<Layer>>.network;

// Changes the sign of two numbers of a formula.
template <int Sign>
struct signs {
    constexpr auto operator()(auto x) const { return cn::sin(x + Sign * 0.5) * (Sign * 2.0); }
};

template <int First, int Second>
struct two_names {
    constexpr auto operator()(auto x) const {
        return x | cn::named < First == 1 ? "a" : "b",
               cn::dense < 3 >> | cn::tanh | cn::named < Second == 1 ? "a" : "b", cn::dense < 3 >>
            ;
    }
};
template <int First, int Second>
using ordered = cn::network<two_names<First, Second>{}, cn::input<3>>;

} // namespace

TEST_CASE("networks with the same parameters differ by what they compute") {
    CHECK(network_with<cn::relu> == network_with<cn::relu>);
    CHECK(network_with<cn::relu> != network_with<cn::tanh>);
    CHECK(network_with<cn::dropout<0.2F>> != network_with<cn::dropout<0.9F>>);
    CHECK(network_with<cn::batch_norm> != network_with<cn::batch_norm.with_epsilon(0.5F)>);
    CHECK(network_with<cn::batch_norm> != network_with<cn::batch_norm.with_momentum(0.5F)>);
    CHECK(network_with<cn::conv2d<2, 3>> != network_with<cn::frozen<cn::conv2d<2, 3>>>);
    CHECK(network_with<cn::conv2d<2, 3>> != network_with<cn::conv2d<2, 3>.l2(0.1F)>);
    CHECK(network_with<cn::conv2d<2, 3>.l2(0.1F)> != network_with<cn::conv2d<2, 3>.l1(0.1F)>);
    CHECK(network_with<cn::max_pool2d<2>> != network_with<cn::avg_pool2d<2>>);
    CHECK(network_with<cn::conv2d<2, 3, cn::conv{.stride = 3, .padding = 1}>> !=
          network_with<cn::conv2d<2, 3, cn::conv{.stride = 3}>>);
    CHECK(network_with<signs<1>{}> != network_with<signs<-1>{}>);
    CHECK(of<ordered<1, 2>>.network != of<ordered<2, 1>>.network);
    // how they start does not matter any more
    CHECK(network_with<cn::conv2d<2, 3>> == network_with<cn::conv2d<2, 3>.init(cn::he_normal)>);
}

TEST_CASE("losses and metrics are told from networks") {
    using network = chain<cn::relu>;
    constexpr auto plain = of<network>;
    constexpr auto some = of<network, cn::smoothed_cross_entropy<0.1F>, cn::accuracy>;
    constexpr auto more = of<network, cn::smoothed_cross_entropy<0.4F>, cn::accuracy>;
    constexpr auto counted = of<network, cn::cross_entropy, cn::accuracy>;
    constexpr auto top = of<network, cn::cross_entropy, cn::top_k<2>>;
    CHECK(plain.network == some.network);
    CHECK(some.network == more.network);
    CHECK(some.loss != more.loss);
    CHECK(plain.loss == counted.loss);
    CHECK(plain.metrics != counted.metrics);
    CHECK(counted.loss == top.loss);
    CHECK(counted.metrics != top.metrics);
}
