// Element-wise functions and their derivatives against PyTorch.
#include "../golden.hpp"

#include <castnet/expr/expr.hpp>

#include <utility>

using castnet::fn, castnet::function, castnet::no_gradient;
using check::values;

namespace {

check::golden_file const& file() {
    static check::golden_file const golden{"functions"};
    return golden;
}

// Both values grow up to 1e18 and to 1e-18: relative and absolute error count.
void near(std::string const& what, values const& found, values const& expected) {
    check::close(what, found, expected, 2e-14);
}

template <fn F, int By, std::size_t... I>
void derivative(std::string const& tensor, std::vector<values> const& x, values const& y,
                std::index_sequence<I...>) {
    if constexpr (function<F>::reads[By] != no_gradient) {
        values d;
        for (std::size_t k = 0; k < y.size(); ++k) {
            d.push_back(function<F>::template derivative<By>(x[I][k]..., y[k]));
        }
        near(tensor, d, file()[tensor]);
    }
}

// `by`: the names of the derivatives with respect to each input; empty where the file has none.
template <fn F, std::size_t... I>
void points(std::string const& name, std::vector<values> const& x,
            std::vector<std::string> const& by, std::index_sequence<I...> inputs) {
    values y;
    for (std::size_t k = 0; k < x[0].size(); ++k) {
        y.push_back(function<F>::value(x[I][k]...));
    }
    near(name + "y", y, file()[name + "y"]);
    (..., (by[I].empty() ? void() : derivative<F, int(I)>(name + by[I], x, y, inputs)));
}

// A function of one number, and constants.
template <fn F, class... Constant>
void of_one(char const* name, Constant... constant) {
    for (std::string const kind : {"", "kink_"}) {
        std::string const x = std::string{name} + "/" + kind + "x";
        if (file().has(x)) {
            std::vector<values> inputs{file()[x]};
            (..., inputs.push_back(values(inputs[0].size(), constant)));
            points<F>(std::string{name} + "/" + kind, inputs, {"grad", "", ""},
                      std::make_index_sequence<1 + sizeof...(Constant)>{});
        }
    }
}

template <fn F>
void of_several(char const* name) {
    constexpr int arity = function<F>::arity;
    for (std::string const kind : {"", "kink_"}) {
        std::vector<values> inputs;
        for (int i = 0; i < arity; ++i) {
            std::string const x = std::string{name} + "/" + kind + "x" + std::to_string(i);
            if (file().has(x)) {
                inputs.push_back(file()[x]);
            }
        }
        if (inputs.size() == std::size_t(arity)) {
            points<F>(std::string{name} + "/" + kind, inputs, {"grad0", "grad1", "grad2"},
                      std::make_index_sequence<arity>{});
        }
    }
}

} // namespace

TEST_CASE("functions of one number") {
    of_one<fn::negate>("negate");
    of_one<fn::absolute>("abs");
    of_one<fn::sign>("sign");
    of_one<fn::square>("square");
    of_one<fn::exp>("exp");
    of_one<fn::exp2>("exp2");
    of_one<fn::expm1>("expm1");
    of_one<fn::log>("log");
    of_one<fn::log1p>("log1p");
    of_one<fn::log2>("log2");
    of_one<fn::log10>("log10");
    of_one<fn::sqrt>("sqrt");
    of_one<fn::rsqrt>("rsqrt");
    of_one<fn::sin>("sin");
    of_one<fn::cos>("cos");
    of_one<fn::tan>("tan");
    of_one<fn::asin>("asin");
    of_one<fn::acos>("acos");
    of_one<fn::atan>("atan");
    of_one<fn::sinh>("sinh");
    of_one<fn::cosh>("cosh");
    of_one<fn::asinh>("asinh");
    of_one<fn::acosh>("acosh");
    of_one<fn::atanh>("atanh");
    of_one<fn::erf>("erf");
    of_one<fn::erfc>("erfc");
    of_one<fn::erfinv>("erfinv");
    of_one<fn::logit>("logit");
    of_one<fn::lgamma>("lgamma"); // whose derivative is digamma
}

TEST_CASE("activations") {
    of_one<fn::relu>("relu");
    of_one<fn::relu6>("relu6");
    of_one<fn::leaky_relu>("leaky_relu", 0.01);
    of_one<fn::elu>("elu", 1.0);
    of_one<fn::selu>("selu");
    of_one<fn::gelu>("gelu");
    of_one<fn::gelu_tanh>("gelu_tanh");
    of_one<fn::sigmoid>("sigmoid");
    of_one<fn::log_sigmoid>("log_sigmoid");
    of_one<fn::tanh>("tanh");
    of_one<fn::softplus>("softplus");
    of_one<fn::softsign>("softsign");
    of_one<fn::silu>("silu");
    of_one<fn::mish>("mish");
    of_one<fn::hard_sigmoid>("hard_sigmoid");
    of_one<fn::hard_tanh>("hard_tanh");
    of_one<fn::hard_silu>("hard_silu");
    of_one<fn::clip>("clip", -1.0, 2.0);
}

TEST_CASE("functions of several numbers") {
    of_several<fn::add>("add");
    of_several<fn::subtract>("subtract");
    of_several<fn::multiply>("multiply");
    of_several<fn::divide>("divide");
    of_several<fn::minimum>("minimum");
    of_several<fn::maximum>("maximum");
    of_several<fn::multiply_add>("multiply_add");
    of_several<fn::lerp>("lerp");
    of_several<fn::pow>("pow");
    of_several<fn::hypot>("hypot");
    of_several<fn::xlogy>("xlogy");
    of_several<fn::atan2>("atan2");
    of_several<fn::logaddexp>("logaddexp");
    of_several<fn::fmod>("fmod");
    of_several<fn::remainder>("remainder");
}

TEST_CASE("powers of negative bases, and a choice") {
    auto const golden = [](char const* name) { return file()[name]; };
    values const base = golden("pow_integer/x0"), exponent = golden("pow_integer/x1");
    values const condition = golden("where/condition");
    values const yes = golden("where/x0"), no = golden("where/x1");
    values power, slope, chosen, by_yes, by_no;
    using pow = function<fn::pow>;
    using where = function<fn::where>;
    for (std::size_t i = 0; i < 64; ++i) {
        power.push_back(pow::value(base[i], exponent[i]));
        slope.push_back(pow::derivative<0>(base[i], exponent[i], power[i]));
        chosen.push_back(where::value(condition[i], yes[i], no[i]));
        by_yes.push_back(where::derivative<1>(condition[i], yes[i], no[i], chosen[i]));
        by_no.push_back(where::derivative<2>(condition[i], yes[i], no[i], chosen[i]));
    }
    near("pow", power, golden("pow_integer/y"));
    near("pow by the base", slope, golden("pow_integer/grad0"));
    near("where", chosen, golden("where/y"));
    near("where by the first", by_yes, golden("where/grad0"));
    near("where by the second", by_no, golden("where/grad1"));
}
