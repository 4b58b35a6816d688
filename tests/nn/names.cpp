// Names, shapes and counts of parameters, and the shapes of outputs: known while compiling.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;
using cn::conv, cn::conv2d, cn::dense, cn::input, cn::named, cn::shape;

namespace {

template <class Network>
std::vector<std::string> names() {
    cn::graph g{true};
    Network::trace(g);
    std::vector<std::string> all;
    for (cn::parameter const& p : g.parameters) {
        all.emplace_back(p.name.text());
    }
    return all;
}

using list = std::vector<std::string>;

template <class Network>
using output = cn::detail::nth_of<0, cn::detail::outputs_of<Network>>;
template <auto Layer, size_t... D>
using after = output<cn::sequential<input<D...>, Layer>>;

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

struct functional {
    constexpr auto operator()(auto x, auto y) const {
        auto const a = x | dense<4> | cn::relu | dense<3>;
        auto const b = y | cn::block<dense<2>, dense<3>>;
        return cn::concat(a, b) | cn::batch_norm | dense<1>;
    }
};
struct two_outputs {
    constexpr auto operator()(auto x) const {
        auto const h = x | dense<4>;
        return cn::outputs(h | named<"a", dense<2>>, h | named<"b", dense<3>>);
    }
};
struct sharing {
    static constexpr auto encoder = cn::shared<"encoder", cn::block<dense<4>, dense<4>>>;
    constexpr auto operator()(auto x) const { return (x | encoder | encoder) + encoder(x); }
};

struct clash {
    constexpr auto operator()(auto x) const {
        return x | named<"a", dense<4>> | named<"a", dense<4>>;
    }
};

} // namespace

using convnet = cn::sequential<input<1, 28, 28>, conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                               conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, conv2d<64, 3>, cn::relu,
                               cn::flatten, dense<64>, cn::relu, dense<10>>;
static_assert(convnet::parameter_count == 93'322);
static_assert(same<output<convnet>, shape<10>>);

// Running statistics are no parameters, frozen parameters are none that are counted.
static_assert(cn::sequential<input<3, 5, 5>, cn::batch_norm>::parameter_count == 6);
static_assert(cn::sequential<input<7>, dense<3>>::parameter_count == 24);
static_assert(cn::sequential<input<7>, dense<3>.no_bias()>::parameter_count == 21);
static_assert(cn::sequential<input<4>, cn::shared<"s", dense<4>>,
                             cn::shared<"s", dense<4>>>::parameter_count == 20);
static_assert(cn::sequential<input<4, 5, 5>, conv2d<6, 3, conv{.groups = 2}>>::parameter_count ==
              6 * 2 * 9 + 6);

static_assert(same<after<conv2d<8, 3>, 1, 28, 28>, shape<8, 26, 26>>);
static_assert(same<after<conv2d<8, cn::size2{3, 5}>, 1, 28, 28>, shape<8, 26, 24>>);
static_assert(
    same<after<conv2d<8, 3, conv{.stride = 2, .padding = cn::same}>, 1, 27, 28>, shape<8, 14, 14>>);
static_assert(
    same<after<conv2d<8, 3, conv{.stride = 2, .padding = 1}>, 1, 28, 27>, shape<8, 14, 14>>);
static_assert(same<after<conv2d<8, 3, conv{.dilation = 2}>, 1, 9, 9>, shape<8, 5, 5>>);
static_assert(same<after<cn::max_pool2d<2>, 3, 7, 8>, shape<3, 3, 4>>);
static_assert(same<after<cn::avg_pool2d<3, cn::pooling{.stride = 2, .padding = 1}>, 3, 7, 8>,
                   shape<3, 4, 4>>);
static_assert(same<after<cn::upsample2d<3>, 2, 4, 5>, shape<2, 12, 15>>);
static_assert(same<after<cn::global_avg_pool2d, 2, 4, 5>, shape<2>>);
static_assert(same<after<cn::flatten, 2, 4, 5>, shape<40>>);
static_assert(same<after<cn::reshape<8, 5>, 2, 4, 5>, shape<8, 5>>);
static_assert(same<after<dense<6>, 3, 5>, shape<3, 6>>);
static_assert(same<after<cn::batch_norm, 3, 5>, shape<3, 5>>);
static_assert(same<after<cn::softmax, 3, 4, 5>, shape<3, 4, 5>>);
static_assert(same<output<cn::network<functional{}, input<5>, input<6>>>, shape<1>>);
static_assert(same<cn::detail::outputs_of<cn::network<two_outputs{}, input<5>>>,
                   cn::type_list<shape<2>, shape<3>>>);

TEST_CASE("positions name the layers of a chain") {
    using network = cn::sequential<input<2, 8, 8>, conv2d<3, 3>, cn::relu, cn::batch_norm,
                                   cn::flatten, dense<4>.no_bias()>;
    CHECK(names<network>() == list{"0.weight", "0.bias", "2.weight", "2.bias", "2.running_mean",
                                   "2.running_var", "4.weight"});
}

TEST_CASE("blocks add a position each") {
    using network =
        cn::sequential<input<4>, dense<4>, cn::relu,
                       cn::block<cn::residual<dense<4>, cn::relu, dense<4>>, cn::tanh, dense<2>>>;
    CHECK(names<network>() == list{"0.weight", "0.bias", "2.0.0.weight", "2.0.0.bias",
                                   "2.0.2.weight", "2.0.2.bias", "2.2.weight", "2.2.bias"});
}

TEST_CASE("a shortcut has a name, a network as a layer has its own positions") {
    using inner = cn::sequential<input<3>, cn::relu, dense<3>>;
    using network =
        cn::sequential<input<4>, cn::projected_residual<dense<3>, dense<5>, dense<3>>, inner{}>;
    CHECK(names<network>() == list{"0.shortcut.weight", "0.shortcut.bias", "0.0.weight", "0.0.bias",
                                   "0.1.weight", "0.1.bias", "1.1.weight", "1.1.bias"});
}

TEST_CASE("names that the user gave") {
    using network = cn::sequential<input<4>, named<"stem", dense<4>>,
                                   named<"tail", cn::block<cn::relu, named<"head", dense<2>>>>>;
    CHECK(names<network>() ==
          list{"0.stem.weight", "0.stem.bias", "1.tail.1.head.weight", "1.tail.1.head.bias"});
}

TEST_CASE("functions number their layers by kind and order") {
    using network = cn::network<functional{}, input<5>, input<6>>;
    CHECK(names<network>() == list{"dense_1.weight", "dense_1.bias", "dense_2.weight",
                                   "dense_2.bias", "block_3.0.weight", "block_3.0.bias",
                                   "block_3.1.weight", "block_3.1.bias", "batch_norm_4.weight",
                                   "batch_norm_4.bias", "batch_norm_4.running_mean",
                                   "batch_norm_4.running_var", "dense_5.weight", "dense_5.bias"});
}

TEST_CASE("what is shared is called the same everywhere, once") {
    CHECK(names<cn::network<sharing{}, input<4>>>() ==
          list{"encoder.0.weight", "encoder.0.bias", "encoder.1.weight", "encoder.1.bias"});
    using deep =
        cn::sequential<input<4>, cn::block<cn::shared<"s", dense<4>>>, cn::shared<"s", dense<4>>>;
    CHECK(names<deep>() == list{"s.weight", "s.bias"});
}

TEST_CASE("freezing changes no name") {
    using network = cn::sequential<input<4>, cn::frozen<dense<4>>, cn::frozen<dense<4>, dense<3>>>;
    CHECK(names<network>() ==
          list{"0.weight", "0.bias", "1.0.weight", "1.0.bias", "1.1.weight", "1.1.bias"});
}

TEST_CASE("two layers of one name are refused") {
    bool refused = false;
    try {
        names<cn::network<clash{}, input<4>>>();
    } catch (char const* message) {
        refused = std::string{message}.find("named") != std::string::npos;
    }
    CHECK(refused);
}
