// A training step or a prediction of a network of the zoo, for compare.py, which names the network
// (NETWORK), the type of its elements (TYPE) and its header (HEADER):
//
//     compare train|predict <parameters> <"input" and "target"> <file to write>
//
// After a step it writes the "loss", the gradients as "grad/<name>", and all parameters and
// statistics; after a prediction the "output".
#include <castnet/castnet.hpp>
#include <castnet/io/safetensors.hpp>

#include HEADER

#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

namespace cn = castnet;

namespace {

using network = NETWORK;
constexpr std::size_t samples = 4;

using policy = cn::policy::basic_cpu<TYPE>;
using model_type = cn::model<network, policy, cn::batch<samples>>;

template <class Inputs>
struct first_of;
template <class First, class... More>
struct first_of<cn::type_list<First, More...>> {
    using type = First;
};
using input_shape = first_of<network::inputs>::type;
using output_shape =
    first_of<decltype(network::trace(std::declval<cn::ir::graph&>()))::shapes>::type;

// Networks that classify have a vector, others an image as output and target.
constexpr bool classifies = output_shape::rank == 1;
using target = std::conditional_t<classifies, cn::data::label<output_shape::count>, output_shape>;
using data_set = cn::data::dataset<target, input_shape>;

std::vector<float> floats(cn::io::safetensors_file const& file, char const* name) {
    auto const& tensor = file.at(name);
    std::vector<float> all(tensor.bytes.size() / sizeof(float));
    std::memcpy(all.data(), tensor.bytes.data(), tensor.bytes.size());
    return all;
}

constexpr auto loss() {
    if constexpr (classifies) {
        return cn::cross_entropy;
    } else {
        return cn::binary_cross_entropy;
    }
}

} // namespace

int main(int, char** arguments) try {
    auto const given = cn::io::load_safetensors(arguments[3]);
    data_set const data{floats(given, "input"), floats(given, "target")};
    model_type model;
    cn::load(model, arguments[2]);

    std::map<std::string, std::vector<TYPE>> found;
    if (arguments[1] == std::string{"predict"}) {
        found["output"] = model.predict(data);
    } else {
        auto training = cn::compile(model, loss(), cn::sgd{});
        std::vector<std::size_t> all(samples);
        std::iota(all.begin(), all.end(), std::size_t{0});
        found["loss"] = {static_cast<TYPE>(training.step(data, all, 0.0).loss())};
        for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
            auto const& p = model.parameter_at(i);
            std::string const name = p.name.text();
            if (p.trainable) {
                found["grad/" + name] = training.gradient(name);
            } else {
                found[name] = model.get(name);
            }
        }
    }
    std::vector<cn::io::stored_tensor> tensors;
    for (auto const& [name, values] : found) {
        tensors.push_back(cn::io::tensor_of(name, {values.size()}, values.data()));
    }
    cn::io::save_safetensors(arguments[4], tensors);
} catch (cn::error const& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
}
