// Names, shapes and counts of parameters, and the shapes of outputs: known while compiling.
#include <castnet/castnet.hpp>
#include <castnet/zoo/resnet.hpp>

#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

namespace cn = castnet;
using cn::conv, cn::conv2d, cn::dense, cn::input, cn::named, cn::shape;

namespace {

template <class Network>
std::vector<std::string> names() {
    cn::ir::graph g{true};
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

struct named_with_lengths {
    constexpr auto operator()(auto x, auto length) const {
        auto const steps = cn::with_lengths(x, length);
        auto const y = named<"reader", cn::gru<2>.return_sequences()>(steps);
        return cn::concat(y, cn::shared<"other", cn::rnn<3>.return_sequences()>(steps));
    }
};

struct frozen_with_lengths {
    constexpr auto operator()(auto x, auto length) const {
        constexpr auto encoder = cn::transformer_encoder_layer<1>;
        auto const y = cn::frozen<named<"encoder", encoder>>(x, cn::length_mask(length));
        auto const z =
            cn::on<0, cn::frozen<named<"reader", cn::gru<2>>>>(cn::with_lengths(y, length));
        return cn::concat(z, cn::on<0, cn::frozen<cn::relu, dense<3>>>(z));
    }
};

// Functions as layers: the branches of Inception, the gate of a squeeze-and-excitation block.
struct branches {
    constexpr auto operator()(auto x) const {
        auto const pixel = x | conv2d<2, 1>;
        auto const wide = x | conv2d<2, 1> | cn::relu | conv2d<2, 3, conv{.padding = 1}>;
        return cn::concat(pixel, wide, x | cn::block<conv2d<2, 1>, cn::batch_norm>);
    }
};
struct gated {
    constexpr auto operator()(auto x) const {
        auto const squeezed = x | cn::global_avg_pool2d | dense<2> | cn::silu;
        return x * cn::along_channels(squeezed | dense<6> | cn::sigmoid);
    }
};
struct one_layer { // and a block without parameters
    constexpr auto operator()(auto x) const { return x | cn::block<cn::relu> | dense<4>; }
};
struct pair { // shared as a whole
    constexpr auto operator()(auto x) const { return cn::concat(x | dense<2>, x | dense<2>); }
};
struct shared_pairs {
    static constexpr auto both = cn::shared<"both", pair{}>;
    constexpr auto operator()(auto x) const { return (x | both | both) + both(x); }
};
struct unnamed {
    constexpr auto operator()(auto x) const {
        auto const a = cn::new_parameter<shape<4>>(*x.g, "scale", {});
        return x * a + cn::new_parameter<shape<4>>(*x.g, "scale", {});
    }
};

template <class Network>
bool has_clash() {
    cn::ir::graph g{true};
    Network::trace(g);
    return cn::repeated_name(g.parameters.data(), g.parameters.size()) >= 0;
}

} // namespace

using convnet = cn::sequential<input<1, 28, 28>, conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                               conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, conv2d<64, 3>, cn::relu,
                               cn::flatten, dense<64>, cn::relu, dense<10>>;
static_assert(convnet::parameter_count == 93'322);
static_assert(same<output<convnet>, shape<10>>);

// Running statistics are no parameters, frozen parameters are none that are counted.
static_assert(cn::sequential<input<3, 5, 5>, cn::batch_norm>::parameter_count == 6);
static_assert(cn::sequential<input<3, 5, 5>, cn::batch_norm.no_affine()>::parameter_count == 0);
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
          list{"stem.weight", "stem.bias", "tail.head.weight", "tail.head.bias"});
    using classes = cn::sequential<
        input<2, 4, 4>,
        cn::frozen<named<"features", cn::block<conv2d<2, 3>, cn::relu, conv2d<2, 1>>>>, cn::flatten,
        named<"classifier", cn::block<dense<3>, cn::relu, dense<2>>>, dense<2>>;
    CHECK(names<classes>() == list{"features.0.weight", "features.0.bias", "features.2.weight",
                                   "features.2.bias", "classifier.0.weight", "classifier.0.bias",
                                   "classifier.2.weight", "classifier.2.bias", "3.weight",
                                   "3.bias"});

    using lengths = cn::network<named_with_lengths{}, input<5, 3>, cn::input_length<5>>;
    CHECK(names<lengths>() == list{"reader.weight_ih_l0", "reader.weight_hh_l0",
                                   "reader.bias_ih_l0", "reader.bias_hh_l0", "other.weight_ih_l0",
                                   "other.weight_hh_l0", "other.bias_ih_l0", "other.bias_hh_l0"});
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

TEST_CASE("freezing and placing change no name") {
    using plain =
        cn::sequential<input<4>, dense<4>, cn::relu, dense<3>, cn::block<dense<2>>, dense<1>>;
    using frozen = cn::sequential<input<4>, cn::frozen<dense<4>>,
                                  cn::frozen<cn::relu, dense<3>, cn::block<dense<2>>>, dense<1>>;
    using placed =
        cn::sequential<input<4>, cn::on<0, cn::frozen<dense<4>, cn::relu>, dense<3>>, cn::frozen<>,
                       cn::frozen<cn::on<1, cn::block<dense<2>>, dense<1>>>>;
    list const expected{"0.weight",   "0.bias",   "2.weight", "2.bias",
                        "3.0.weight", "3.0.bias", "4.weight", "4.bias"};
    CHECK(names<plain>() == expected);
    CHECK(names<frozen>() == expected);
    CHECK(names<placed>() == expected);
}

TEST_CASE("layers that take masks or lengths are frozen and placed") {
    using net = cn::network<frozen_with_lengths{}, input<5, 3>, cn::input_length<5>>;
    CHECK(same<output<net>, shape<5>>);
    cn::ir::graph g{true};
    net::trace(g);
    CHECK(g.parameters[0].name.text() == std::string_view{"encoder.self_attn.in_proj_weight"});
    for (cn::parameter const& p : g.parameters) {
        INFO(p.name.text());
        CHECK_FALSE(p.trainable);
    }
}

TEST_CASE("every layer of a function that stands in a chain has a name of its own") {
    using inception = cn::sequential<input<2, 4, 4>, branches{}, cn::relu, branches{}>;
    list const found = names<inception>();
    CHECK(list(found.begin(), found.begin() + 14) ==
          list{"0.weight", "0.bias", "0.conv2d_2.weight", "0.conv2d_2.bias", "0.conv2d_3.weight",
               "0.conv2d_3.bias", "0.block_4.0.weight", "0.block_4.0.bias", "0.block_4.1.weight",
               "0.block_4.1.bias", "0.block_4.1.running_mean", "0.block_4.1.running_var",
               "2.weight", "2.bias"});
    CHECK_FALSE(has_clash<inception>());
    using efficient = cn::sequential<input<6, 4, 4>, cn::residual<conv2d<6, 1>, gated{}>, gated{}>;
    CHECK(names<efficient>() == list{"0.0.weight", "0.0.bias", "0.1.weight", "0.1.bias",
                                     "0.1.dense_2.weight", "0.1.dense_2.bias", "1.weight", "1.bias",
                                     "1.dense_2.weight", "1.dense_2.bias"});
    CHECK(names<cn::sequential<input<4>, one_layer{}>>() == list{"0.weight", "0.bias"});
    CHECK(names<cn::network<shared_pairs{}, input<4>>>() ==
          list{"both.weight", "both.bias", "both.dense_2.weight", "both.dense_2.bias"});
    CHECK_FALSE(has_clash<cn::zoo::resnet50>());
}

TEST_CASE("a network of a function has the names of its own as a layer, behind a prefix") {
    using alone = cn::network<pair{}, input<4>>;
    CHECK(names<alone>() ==
          list{"dense_1.weight", "dense_1.bias", "dense_2.weight", "dense_2.bias"});
    CHECK(names<cn::sequential<input<4>, named<"part", alone{}>>>() ==
          list{"part.dense_1.weight", "part.dense_1.bias", "part.dense_2.weight",
               "part.dense_2.bias"});
    CHECK(names<cn::sequential<input<4>, cn::relu, alone{}, dense<2>>>() ==
          list{"1.dense_1.weight", "1.dense_1.bias", "1.dense_2.weight", "1.dense_2.bias",
               "2.weight", "2.bias"});
    constexpr auto begins = [](auto x) { return x | alone{} | dense<2>; };
    CHECK(names<cn::sequential<input<4>, named<"part", begins>>>() ==
          list{"part.dense_1.weight", "part.dense_1.bias", "part.dense_2.weight",
               "part.dense_2.bias", "part.dense_3.weight", "part.dense_3.bias"});
}

TEST_CASE("so it has in a function, behind its number") {
    using alone = cn::network<pair{}, input<4>>;
    constexpr auto between = [](auto x) { return x | dense<4> | alone{} | dense<2>; };
    CHECK(names<cn::network<between, input<4>>>() ==
          list{"dense_1.weight", "dense_1.bias", "network_2.dense_1.weight",
               "network_2.dense_1.bias", "network_2.dense_2.weight", "network_2.dense_2.bias",
               "dense_3.weight", "dense_3.bias"});
    constexpr auto nested = [](auto x) { return alone{}(x) + alone{}(x); };
    CHECK(names<cn::sequential<input<4>, cn::network<nested, input<4>>{}>>() ==
          list{"0.network_1.dense_1.weight", "0.network_1.dense_1.bias",
               "0.network_1.dense_2.weight", "0.network_1.dense_2.bias",
               "0.network_2.dense_1.weight", "0.network_2.dense_1.bias",
               "0.network_2.dense_2.weight", "0.network_2.dense_2.bias"});
}

TEST_CASE("parameters of one name are found") {
    CHECK(has_clash<cn::sequential<input<4>, unnamed{}>>());
    CHECK(has_clash<cn::sequential<input<4>, named<"a", dense<4>>, named<"a", dense<4>>>>());
    CHECK_FALSE(has_clash<cn::sequential<input<4>, named<"a", dense<4>>, named<"b", dense<4>>>>());
}
