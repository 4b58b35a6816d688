// One step of RTNeural's compile-time model: a recurrent layer with one input, and a dense layer of
// one output, with the parameters of castnet's.
#pragma once

#include <RTNeural/RTNeural.h>
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// Of so many gates: 4 are an LSTM's, 3 a GRU's.
template <std::size_t Units, std::size_t Gates>
class rtneural_steps {
public:
    template <class Model>
    explicit rtneural_steps(Model const& m) {
        nlohmann::json of; // as PyTorch's state_dict
        for (auto const* name : {"0.weight_ih_l0", "0.weight_hh_l0", "1.weight"}) {
            auto const values = m.get(name);
            auto const row = name == std::string{"0.weight_ih_l0"} ? 1 : Units;
            for (std::size_t i = 0; i < values.size(); i += row) {
                of[name].push_back(std::vector<float>(values.begin() + std::ptrdiff_t(i),
                                                      values.begin() + std::ptrdiff_t(i + row)));
            }
        }
        for (auto const* name : {"0.bias_ih_l0", "0.bias_hh_l0", "1.bias"}) {
            of[name] = m.get(name);
        }
        if constexpr (Gates == 4) {
            RTNeural::torch_helpers::loadLSTM<float>(of, "0.", model_.template get<0>());
        } else {
            RTNeural::torch_helpers::loadGRU<float>(of, "0.", model_.template get<0>());
        }
        RTNeural::torch_helpers::loadDense<float>(of, "1.", model_.template get<1>());
        model_.reset();
    }

    float predict(float x) { return model_.forward(&x); }

private:
    static constexpr int units = static_cast<int>(Units);
    using layer = std::conditional_t<Gates == 4, RTNeural::LSTMLayerT<float, 1, units>,
                                     RTNeural::GRULayerT<float, 1, units>>;
    RTNeural::ModelT<float, 1, 1, layer, RTNeural::DenseT<float, units, 1>> model_;
};

} // namespace bench
