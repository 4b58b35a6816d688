// Runs a network alone, in double: its outputs, its gradients with respect to inputs and
// parameters, and its statistics. All values are in logical order.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/device/cpu/device.hpp>
#include <castnet/train/compiled_step.hpp>

#include "../golden.hpp"

#include <algorithm>
#include <cmath>
#include <map>

// Another device is tested by the same files where this names a header that defines check::device.
#ifdef CASTNET_TEST_DEVICE
#include CASTNET_TEST_DEVICE
#else
namespace check {
using device = castnet::cpu_device<double>;
}
#endif

namespace check {

// Outputs: the network's first, then the gradient with respect to each input of sum(output *
// target): the target holds the gradient with respect to the output. An input that has no gradient,
// such as a label, shows the output instead.
struct gradients_recipe {
    template <class Network>
    static constexpr castnet::ir::results build(castnet::ir::graph& g) {
        using namespace castnet;
        using namespace castnet::ir;
        auto const out = Network::trace(g);
        using shape = castnet::detail::nth_of<0, typename decltype(out)::shapes>;
        auto const seed = emit<shape>(g, graph::shaped<shape>(op::target, true));
        differentiation d{g, true};
        results r;
        r.gradients = d.run(out.ids[0], seed.id);
        r.outputs.push(out.ids[0]);
        for (int i = 0; i < g.nodes.size(); ++i) {
            if (g.nodes[i].kind == op::input) {
                r.outputs.push(d.by(i) >= 0 ? d.by(i) : out.ids[0]);
            }
        }
        return r;
    }
};

class layer_run {
public:
    template <class Network, bool Training, std::size_t Batch>
    static layer_run of() {
        using namespace castnet;
        using namespace castnet::ir;
        using program =
            castnet::detail::compiled_step<gradients_recipe, Network, device, Batch, Training>;
        constexpr auto const& plan = program::value;
        layer_run r;
        r.run_ = [](device::context const& c) { device::run<plan>(c); };
        r.parameters_.assign(plan.parameters, plan.parameters + plan.sizes.parameters);
        r.output_ = plan.outputs[0];
        r.seed_ = plan.targets[0];
        for (std::size_t i = 0; i < Network::inputs::size; ++i) {
            r.inputs_.push_back(plan.inputs[i]);
            r.grad_inputs_.push_back(plan.outputs[i + 1]);
        }
        r.weights_ = plan.weights;
        r.sample_mask_ = plan.sample_mask;
        r.present_ = plan.present;
        for (int i = 0; i < 4; ++i) {
            r.memory_.emplace_back(std::size_t(plan.size[i]) * sizeof(double));
            r.context_.region[i] = r.memory_.back().template as<double>();
        }
        r.context_.samples = std::ptrdiff_t(Batch);
        r.context_.key = castnet::key_of(42);
        r.present(values(Batch, 1));
        return r;
    }

    std::size_t inputs() const { return inputs_.size(); }
    std::vector<castnet::ir::placed_parameter> const& parameters() const { return parameters_; }

    void set_input(values const& x, std::size_t which = 0) { put(inputs_[which], x); }
    values input(std::size_t which = 0) const { return get(inputs_[which]); }
    void set_grad_output(values const& g) { put(seed_, g); }
    values grad_output() const { return get(seed_); }
    values output() const { return get(output_); }
    values grad_input(std::size_t which = 0) const { return get(grad_inputs_[which]); }

    void set(std::string const& name, values const& w) {
        castnet::ir::placed_parameter const& p = find(name);
        REQUIRE(w.size() == std::size_t(p.count()));
        for (std::size_t k = 0; k < w.size(); ++k) {
            at(castnet::ir::region::parameters, p, k) = w[k];
        }
    }
    values parameter(std::string const& name) const {
        return all(castnet::ir::region::parameters, find(name));
    }
    values gradient(std::string const& name) const {
        castnet::ir::placed_parameter const& p = find(name);
        REQUIRE(p.trainable);
        return all(castnet::ir::region::gradients, p);
    }

    // The sample weights: where one is 0, the sample is absent.
    void present(values const& weight) {
        double count = 0;
        for (double w : weight) {
            count += w > 0;
        }
        double* const batch = context_.region[int(castnet::ir::region::batch)];
        for (std::size_t i = 0; i < weight.size(); ++i) {
            batch[weights_ + std::ptrdiff_t(i)] = weight[i];
            batch[sample_mask_ + std::ptrdiff_t(i)] = weight[i] > 0 ? 1 / count : 0;
        }
        batch[present_] = count;
    }

    void run() { run_(context_); }

private:
    using array = castnet::ir::array_ref;

    castnet::ir::placed_parameter const& find(std::string const& name) const {
        for (auto const& p : parameters_) {
            if (p.name.text() == name) {
                return p;
            }
        }
        FAIL("there is no parameter " << name);
        return parameters_[0];
    }
    double& at(castnet::ir::region r, castnet::ir::placed_parameter const& p, std::size_t k) const {
        return context_.region[int(r)][p.offset + device::place_in_parameter(std::ptrdiff_t(k), p)];
    }
    values all(castnet::ir::region r, castnet::ir::placed_parameter const& p) const {
        values w;
        for (std::size_t k = 0; k < std::size_t(p.count()); ++k) {
            w.push_back(at(r, p, k));
        }
        return w;
    }

    template <class Visit>
    void each(array const& a, Visit visit) const {
        std::ptrdiff_t const count = a.size.count();
        for (std::ptrdiff_t i = 0; i < count * context_.samples; ++i) {
            std::ptrdiff_t const place = castnet::ir::place_in_sample(i % count, a.size);
            visit(context_.at(a)[i / count * count + place], std::size_t(i));
        }
    }
    void put(array const& a, values const& x) {
        REQUIRE(x.size() == std::size_t(a.size.count() * context_.samples));
        each(a, [&](double& to, std::size_t i) { to = x[i]; });
    }
    values get(array const& a) const {
        values x;
        each(a, [&](double from, std::size_t) { x.push_back(from); });
        return x;
    }

    void (*run_)(device::context const&) = nullptr;
    std::vector<castnet::ir::placed_parameter> parameters_;
    array output_{}, seed_{};
    std::vector<array> inputs_, grad_inputs_;
    std::ptrdiff_t weights_ = 0, sample_mask_ = 0, present_ = 0;
    std::vector<device::memory> memory_;
    device::context context_;
};

// One layer behind an input of this shape: its parameters are "0.weight", ….
template <auto Layer, class Shape, bool Training = true, std::size_t Batch = 4>
struct layer_of;
template <auto Layer, std::size_t... D, bool Training, std::size_t Batch>
struct layer_of<Layer, castnet::shape<D...>, Training, Batch> {
    static layer_run make() {
        return layer_run::of<castnet::sequential<castnet::input<D...>, Layer>, Training, Batch>();
    }
};
template <auto Layer, class Shape, bool Training = true, std::size_t Batch = 4>
layer_run run_of() {
    return layer_of<Layer, Shape, Training, Batch>::make();
}

// Compares with a case of layers.safetensors, or of another such file. There is no gradient with
// respect to ids.
inline void against_golden(layer_run r, std::string const& name, double tolerance = 1e-12,
                           std::string const& file = "layers") {
    static std::map<std::string, golden_file> files;
    golden_file const& golden = files.try_emplace(file, file).first->second;
    bool const of_ids = golden.has(name + "/ids");
    auto const expected = [&](std::string const& what) { return golden[name + "/" + what]; };
    auto const parameter = [&](castnet::ir::placed_parameter const& p) {
        return p.name.text().substr(2);
    };
    CAPTURE(name);
    r.set_input(expected(of_ids ? "ids" : "input"));
    r.set_grad_output(expected("grad_output"));
    for (auto const& p : r.parameters()) {
        bool const statistic = p.kind == castnet::role::statistic;
        r.set(p.name.text(), expected(parameter(p) + (statistic ? "_before" : "")));
    }
    r.run();
    close("output", r.output(), expected("output"), tolerance);
    if (!of_ids) {
        close("grad_input", r.grad_input(), expected("grad_input"), tolerance);
    }
    for (auto const& p : r.parameters()) {
        if (p.trainable) {
            close("grad_" + parameter(p), r.gradient(p.name.text()),
                  expected("grad_" + parameter(p)), tolerance);
        }
    }
}

// Different numbers in [-2, 2) for every `stream`.
inline values random_values(std::size_t count, std::uint32_t stream) {
    values x(count);
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = 4 * castnet::uniform<double>(
                       castnet::philox({std::uint32_t(i), stream, 0, 7}, castnet::key_of(3)).x0) -
               2;
    }
    return x;
}

// Random inputs, parameters and gradient with respect to the output; then the gradients that the
// network computes against central finite differences. Numbers of an array move by random steps:
// each by itself if there are few, several at once if there are many. Where the first input holds
// ids, they are given.
inline void against_finite_differences(layer_run r, double tolerance = 1e-7,
                                       values const& ids = {}) {
    std::uint32_t stream = 0;
    for (std::size_t i = 0; i < r.inputs(); ++i) {
        r.set_input(random_values(r.input(i).size(), ++stream), i);
    }
    if (!ids.empty()) {
        r.set_input(ids);
    }
    r.set_grad_output(random_values(r.grad_output().size(), ++stream));
    for (auto const& p : r.parameters()) {
        values w = random_values(std::size_t(p.count()), ++stream);
        for (double& x : w) { // variances are positive
            x = p.kind == castnet::role::statistic ? x * x + 0.5 : x;
        }
        r.set(p.name.text(), w);
    }
    r.run();
    values const seed = r.grad_output();
    auto const loss = [&] {
        r.run();
        values const y = r.output();
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            sum += y[i] * seed[i];
        }
        return sum;
    };
    auto const compare = [&](std::string const& by, values const& gradient, values const& x,
                             auto const& set) {
        constexpr double h = 1e-5;
        std::size_t const groups = std::min(x.size(), std::size_t{64});
        values const direction = random_values(x.size(), ++stream);
        auto const step = [&](std::size_t i) {
            return std::copysign(0.5, direction[i]) + direction[i] / 4;
        };
        values analytic(groups), numeric;
        for (std::size_t i = 0; i < x.size(); ++i) {
            analytic[i % groups] += step(i) * gradient[i];
        }
        for (std::size_t group = 0; group < groups; ++group) {
            auto const moved = [&](double distance) {
                values y = x;
                for (std::size_t i = group; i < x.size(); i += groups) {
                    y[i] += distance * step(i);
                }
                set(y);
                return loss();
            };
            numeric.push_back((moved(h) - moved(-h)) / (2 * h));
        }
        set(x);
        close(by, analytic, numeric, tolerance);
    };
    std::vector<values> inputs, grad_inputs;
    for (std::size_t i = 0; i < r.inputs(); ++i) {
        inputs.push_back(r.input(i));
        grad_inputs.push_back(r.grad_input(i));
    }
    std::vector<values> gradients; // of the first run, before anything moved
    for (auto const& p : r.parameters()) {
        gradients.push_back(p.trainable ? r.gradient(p.name.text()) : values{});
    }
    for (std::size_t i = ids.empty() ? 0 : 1; i < r.inputs(); ++i) {
        compare("by input", grad_inputs[i], inputs[i], [&](values const& x) { r.set_input(x, i); });
    }
    for (std::size_t k = 0; k < r.parameters().size(); ++k) {
        auto const& p = r.parameters()[k];
        std::string const name = p.name.text();
        if (p.trainable) {
            compare("by " + name, gradients[k], r.parameter(name),
                    [&](values const& w) { r.set(name, w); });
        }
    }
}

} // namespace check
