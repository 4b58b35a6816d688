// Time of one step of a recurrent layer with one input, and a dense layer of one output behind it:
// a stateful_predictor beside loops written by hand and, where CMake is told where RTNeural lies,
// its compile-time model, with the same weights and on one thread.
#include "networks.hpp"
#if CASTNET_HAS_RTNEURAL
#include "peers/rtneural_steps.hpp"
#endif

#include <array>
#include <benchmark/benchmark.h>

namespace {

using namespace bench;

template <auto Layer>
using network_of = cn::sequential<cn::input<256, 1>, Layer.return_sequences(), cn::dense<1>>;

// y = x W + h R + b of all gates, as the compiler vectorises it, and the functions that castnet
// has.
template <size_t Units, size_t Gates>
class by_hand {
public:
    template <class Model>
    explicit by_hand(Model const& m) {
        auto const from = m.get("0.weight_ih_l0"), back = m.get("0.weight_hh_l0"),
                   in = m.get("0.bias_ih_l0"), of_state = m.get("0.bias_hh_l0"),
                   out = m.get("1.weight");
        std::copy(from.begin(), from.end(), input_.begin());
        std::copy(in.begin(), in.end(), input_bias_.begin());
        std::copy(of_state.begin(), of_state.end(), state_bias_.begin());
        std::copy(out.begin(), out.end(), output_.begin());
        output_bias_ = m.get("1.bias")[0];
        for (size_t unit = 0; unit < Gates * Units; ++unit) {
            for (size_t k = 0; k < Units; ++k) {
                state_[k][unit] = back[unit * Units + k];
            }
        }
    }

protected:
    using gates = std::array<float, Gates * Units>;

    static float sigmoid(float x) { return 1 / (1 + cn::elementary::exp(-x)); }

    gates of_input(float x) const {
        gates sum;
        for (size_t i = 0; i < sum.size(); ++i) {
            sum[i] = input_bias_[i] + x * input_[i];
        }
        return sum;
    }
    void add_state(gates& to) const {
        for (size_t i = 0; i < to.size(); ++i) {
            to[i] += state_bias_[i];
        }
        for (size_t k = 0; k < Units; ++k) {
            for (size_t i = 0; i < to.size(); ++i) {
                to[i] += h_[k] * state_[k][i];
            }
        }
    }
    float output() const {
        float sum = output_bias_;
        for (size_t i = 0; i < Units; ++i) {
            sum += h_[i] * output_[i];
        }
        return sum;
    }

    std::array<float, Units> h_{};

private:
    gates input_, input_bias_, state_bias_;
    std::array<gates, Units> state_;
    std::array<float, Units> output_;
    float output_bias_;
};

template <size_t Units>
struct lstm_by_hand : by_hand<Units, 4> {
    using by_hand<Units, 4>::by_hand;
    std::array<float, Units> c{};

    float predict(float x) {
        auto sum = this->of_input(x);
        this->add_state(sum);
        for (size_t i = 0; i < Units; ++i) {
            c[i] = this->sigmoid(sum[Units + i]) * c[i] +
                   this->sigmoid(sum[i]) * cn::elementary::tanh(sum[2 * Units + i]);
            this->h_[i] = this->sigmoid(sum[3 * Units + i]) * cn::elementary::tanh(c[i]);
        }
        return this->output();
    }
};

template <size_t Units>
struct gru_by_hand : by_hand<Units, 3> {
    using by_hand<Units, 3>::by_hand;

    float predict(float x) {
        auto const in = this->of_input(x);
        std::array<float, 3 * Units> state{};
        this->add_state(state);
        for (size_t i = 0; i < Units; ++i) {
            float const reset = this->sigmoid(in[i] + state[i]);
            float const update = this->sigmoid(in[Units + i] + state[Units + i]);
            float const next =
                cn::elementary::tanh(in[2 * Units + i] + reset * state[2 * Units + i]);
            this->h_[i] = next + update * (this->h_[i] - next);
        }
        return this->output();
    }
};

float first(float y) {
    return y;
}
template <class Outputs>
float first(Outputs const& y) {
    return y[0];
}

template <auto Layer, class Steps>
void step(benchmark::State& state) {
    using model = cn::model<network_of<Layer>, cn::policy::cpu, cn::batch<1>>;
    model const m{cn::seed{42}};
    auto steps = std::make_unique<
        std::conditional_t<std::is_void_v<Steps>, cn::stateful_predictor<model>, Steps>>(m);
    cn::cpu::flush_denormals const here; // as in audio programs, so that no step switches to it
    float x = 0;
    for ([[maybe_unused]] auto _ : state) {
        x = 0.5F -
            first(steps->predict(x)); // each step waits for the one before, as in a control loop
    }
    benchmark::DoNotOptimize(x);
}

template <size_t Units>
void add(char const* units) {
    auto const named = [&](char const* layer, char const* who) {
        return std::string{layer} + "/units:" + units + "/" + who;
    };
    auto const measure = [](std::string const& name, auto f) {
        benchmark::RegisterBenchmark(name.c_str(), f);
    };
    measure(named("lstm", "castnet"), step<cn::lstm<Units>, void>);
    measure(named("lstm", "by_hand"), step<cn::lstm<Units>, lstm_by_hand<Units>>);
#if CASTNET_HAS_RTNEURAL
    measure(named("lstm", "RTNeural"), step<cn::lstm<Units>, rtneural_steps<Units, 4>>);
#endif
    measure(named("gru", "castnet"), step<cn::gru<Units>, void>);
    measure(named("gru", "by_hand"), step<cn::gru<Units>, gru_by_hand<Units>>);
#if CASTNET_HAS_RTNEURAL
    measure(named("gru", "RTNeural"), step<cn::gru<Units>, rtneural_steps<Units, 3>>);
#endif
}

[[maybe_unused]] bool const added =
    (add<8>("8"), add<16>("16"), add<32>("32"), add<64>("64"), true);

} // namespace
