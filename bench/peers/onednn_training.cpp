// The primitives of oneDNN alone on the CPU, with the networks and names of bench_training: forward
// and backward passes in the layouts that oneDNN prefers, without loss and optimizer.
#include "onednn.hpp"
#include "peer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <unordered_map>

namespace {

using namespace bench;
using namespace bench::onednn;

class network {
public:
    explicit network(memory::dims const& shape) : input_{plain(shape), engine_}, x_{input_} {}
    network(network const&) = delete; // what is to be added backward knows this one

    network& conv(long filters) {
        memory::dims const x = shape();
        add<convolution>({filters, x[1], 3, 3}, {x[0], filters, x[2] - 2, x[3] - 2}, true);
        return *this;
    }

    network& dense(long units, bool relu = true) {
        memory::dims weights = shape();
        memory::dims const y{weights[0], units};
        weights[0] = units;
        add<inner_product>(weights, y, relu);
        return *this;
    }

    network& pool() {
        memory::dims const two{2, 2};
        memory::dims const zero{0, 0};
        memory const x = x_;
        memory::dims const s = shape();
        dnnl::pooling_forward::primitive_desc const forward{
            {dnnl::prop_kind::forward_training, algorithm::pooling_max, x.get_desc(),
             any_layout({s[0], s[1], s[2] / 2, s[3] / 2}), two, two, zero, zero},
            engine_};
        memory const y{forward.dst_desc(), engine_};
        memory const workspace{forward.workspace_desc(), engine_};
        forward_.push_back(
            {dnnl::pooling_forward{forward},
             {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, workspace}}});
        x_ = y;
        add_backward_.push_back([=, this] {
            dnnl::pooling_backward::primitive_desc const backward{
                {algorithm::pooling_max, x.get_desc(), y.get_desc(), two, two, zero, zero},
                engine_,
                forward};
            memory const dx{x.get_desc(), engine_};
            backward_.push_back({dnnl::pooling_backward{backward},
                                 {{DNNL_ARG_DIFF_DST, in_layout(dx_, y.get_desc(), backward_)},
                                  {DNNL_ARG_DIFF_SRC, dx},
                                  {DNNL_ARG_WORKSPACE, workspace}}});
            dx_ = dx;
        });
        return *this;
    }

    // The last state of an LSTM; side by side those of so many sequences of a sample.
    network& lstm(long units, long sequences = 1) {
        memory::dims const s = shape();
        memory const x = in_layout(x_, {s, memory::data_type::f32, memory::format_tag::tnc},
                                   forward_); // for backward
        long const time = s[0], samples = s[1], features = s[2];
        memory::dims const of_input{1, 1, features, 4, units}, of_state{1, 1, units, 4, units};
        layout const any_w = any_layout(of_input), any_r = any_layout(of_state), none{};
        layout const biases = plain({1, 1, 4, units}), state = plain({1, 1, samples, units});
        layout const side_by_side = plain({samples / sequences, sequences * units});
        layout const any_y = any_layout({time, samples, units});
        auto const direction = dnnl::rnn_direction::unidirectional_left2right;
        dnnl::lstm_forward::desc const there(dnnl::prop_kind::forward_training, direction,
                                             x.get_desc(), none, none, any_w, any_r, biases, any_y,
                                             state, state);
        dnnl::lstm_forward::primitive_desc const forward{there, engine_};
        memory const w = random_weights(of_input, forward.weights_layer_desc());
        memory const r = random_weights(of_state, forward.weights_iter_desc());
        memory const b = zeros(biases), h{state, engine_}, c{state, engine_};
        memory const y{forward.dst_layer_desc(), engine_};
        memory const workspace{forward.workspace_desc(), engine_};
        forward_.push_back({dnnl::lstm_forward{forward},
                            {{DNNL_ARG_SRC_LAYER, x},
                             {DNNL_ARG_WEIGHTS_LAYER, w},
                             {DNNL_ARG_WEIGHTS_ITER, r},
                             {DNNL_ARG_BIAS, b},
                             {DNNL_ARG_DST_LAYER, y},
                             {DNNL_ARG_DST_ITER, h},
                             {DNNL_ARG_DST_ITER_C, c},
                             {DNNL_ARG_WORKSPACE, workspace}}});
        x_ = memory{side_by_side, engine_, h.get_data_handle()};
        add_backward_.push_back([=, this] {
            dnnl::lstm_backward::desc const back(dnnl::prop_kind::backward, direction, x.get_desc(),
                                                 none, none, any_w, any_r, biases, any_y, state,
                                                 state, x.get_desc(), none, none, any_w, any_r,
                                                 biases, any_y, state, state);
            dnnl::lstm_backward::primitive_desc const backward{back, engine_, forward};
            memory const dy = in_layout(dx_, side_by_side, backward_);
            memory const dx{backward.diff_src_layer_desc(), engine_};
            memory const dw = sum(backward.diff_weights_layer_desc());
            memory const dr = sum(backward.diff_weights_iter_desc());
            memory const db = sum(biases);
            backward_.push_back(
                {dnnl::lstm_backward{backward},
                 {{DNNL_ARG_SRC_LAYER, x},
                  {DNNL_ARG_WEIGHTS_LAYER, in_layout(w, backward.weights_layer_desc(), backward_)},
                  {DNNL_ARG_WEIGHTS_ITER, in_layout(r, backward.weights_iter_desc(), backward_)},
                  {DNNL_ARG_BIAS, b},
                  {DNNL_ARG_DST_LAYER, in_layout(y, backward.dst_layer_desc(), backward_)},
                  {DNNL_ARG_DST_ITER, h},
                  {DNNL_ARG_DST_ITER_C, c},
                  {DNNL_ARG_WORKSPACE, workspace},
                  {DNNL_ARG_DIFF_SRC_LAYER, dx},
                  {DNNL_ARG_DIFF_WEIGHTS_LAYER, dw},
                  {DNNL_ARG_DIFF_WEIGHTS_ITER, dr},
                  {DNNL_ARG_DIFF_BIAS, db},
                  {DNNL_ARG_DIFF_DST_LAYER, zeros(backward.diff_dst_layer_desc())},
                  {DNNL_ARG_DIFF_DST_ITER, memory{state, engine_, dy.get_data_handle()}},
                  {DNNL_ARG_DIFF_DST_ITER_C, zeros(state)}}});
            parameters_.push_back({w, in_layout(dw, w.get_desc(), backward_)});
            parameters_.push_back({r, in_layout(dr, r.get_desc(), backward_)});
            parameters_.push_back({b, db});
            dx_ = dx;
        });
        return *this;
    }

    // Ends the network; gives it its backward pass.
    void done() {
        output_ = in_layout(x_, plain(shape()), forward_);
        output_gradient_ = memory{output_.get_desc(), engine_};
        dx_ = output_gradient_;
        for (size_t i = add_backward_.size(); i-- > 0;) {
            add_backward_[i]();
        }
    }

    void forward() { run(forward_); }
    void backward() { run(backward_); }

    std::span<float> input() const { return floats(input_); }
    std::span<float> output() const { return floats(output_); }
    std::span<float> output_gradient() const { return floats(output_gradient_); }

    void descend(float rate) {
        for (auto const& [parameter, gradient] : parameters_) {
            std::span<float> const p = floats(parameter);
            std::span<float> const g = floats(gradient);
            for (size_t i = 0; i < p.size(); ++i) {
                p[i] -= rate * g[i];
            }
        }
    }

private:
    struct call {
        dnnl::primitive primitive;
        std::unordered_map<int, memory> arguments;
    };

    memory::dims shape() const { return x_.get_desc().dims(); }

    // What is in m, in the layout wanted: m itself, or what a reorder added to the calls makes.
    memory in_layout(memory const& m, layout const& wanted, std::vector<call>& calls) {
        if (m.get_desc() == wanted) {
            return m;
        }
        memory const to{wanted, engine_};
        calls.push_back({dnnl::reorder{m, to}, {{DNNL_ARG_FROM, m}, {DNNL_ARG_TO, to}}});
        return to;
    }

    memory zeros(layout const& l) {
        memory const m{l, engine_};
        std::ranges::fill(floats(m), 0.0F);
        return m;
    }
    // What an LSTM's backward pass adds to: it begins at zero.
    memory sum(layout const& l) {
        memory const m{l, engine_};
        backward_.push_back({dnnl::reorder{m, m}, {{DNNL_ARG_FROM, zeros(l)}, {DNNL_ARG_TO, m}}});
        return m;
    }

    memory random_weights(memory::dims const& shape, layout const& wanted) {
        memory const w{plain(shape), engine_};
        std::vector<float> const numbers = random_numbers(floats(w).size());
        auto const fan_in = float(numbers.size() / size_t(shape[0]));
        std::transform(numbers.begin(), numbers.end(), floats(w).begin(),
                       [&](float x) { return (2 * x - 1) * std::sqrt(6 / fan_in); });
        std::vector<call> once;
        memory const result = in_layout(w, wanted, once);
        run(once);
        return result;
    }

    // A layer with weights: of Op, with bias and possibly ReLU.
    template <class Op>
    void add(memory::dims const& weights, memory::dims const& output, bool relu) {
        dnnl::primitive_attr attributes;
        if (relu) {
            dnnl::post_ops then;
            then.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
            attributes.set_post_ops(then);
        }
        bool const first = add_backward_.empty();
        layout const any_x = any_layout(shape());
        layout const any_w = any_layout(weights);
        layout const any_y = any_layout(output);
        layout const b_layout = plain({weights[0]});
        typename Op::forward::primitive_desc const forward{
            Op{}.output(any_x, any_w, b_layout, any_y), attributes, engine_};
        memory const x = in_layout(x_, forward.src_desc(), forward_);
        memory const w = random_weights(weights, forward.weights_desc());
        memory const b{b_layout, engine_};
        std::ranges::fill(floats(b), 0.0F);
        memory const y{forward.dst_desc(), engine_};
        forward_.push_back(
            {typename Op::forward{forward},
             {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_BIAS, b}, {DNNL_ARG_DST, y}}});
        x_ = y;
        add_backward_.push_back([=, this] {
            if (relu) {
                add_relu_backward(y);
            }
            typename Op::backward_weights::primitive_desc const by_weights{
                Op{}.weights(any_x, any_w, b_layout, any_y), engine_, forward};
            memory const dw{by_weights.diff_weights_desc(), engine_};
            memory const db{b_layout, engine_};
            memory const x_there = in_layout(x, by_weights.src_desc(), backward_);
            memory const dy_there = in_layout(dx_, by_weights.diff_dst_desc(), backward_);
            backward_.push_back({typename Op::backward_weights{by_weights},
                                 {{DNNL_ARG_SRC, x_there},
                                  {DNNL_ARG_DIFF_DST, dy_there},
                                  {DNNL_ARG_DIFF_WEIGHTS, dw},
                                  {DNNL_ARG_DIFF_BIAS, db}}});
            parameters_.push_back({w, in_layout(dw, w.get_desc(), backward_)});
            parameters_.push_back({b, db});
            if (first) {
                return;
            }
            typename Op::backward_data::primitive_desc const by_data{Op{}.data(any_x, any_w, any_y),
                                                                     engine_, forward};
            memory const w_there = in_layout(w, by_data.weights_desc(), backward_);
            memory const dy = in_layout(dx_, by_data.diff_dst_desc(), backward_);
            memory const dx{by_data.diff_src_desc(), engine_};
            backward_.push_back(
                {typename Op::backward_data{by_data},
                 {{DNNL_ARG_WEIGHTS, w_there}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}}});
            dx_ = dx;
        });
    }

    void add_relu_backward(memory const& y) {
        auto const kind = algorithm::eltwise_relu_use_dst_for_bwd;
        dnnl::eltwise_forward::primitive_desc const forward{
            {dnnl::prop_kind::forward_training, kind, y.get_desc(), 0}, engine_};
        dnnl::eltwise_backward::primitive_desc const backward{
            {kind, y.get_desc(), y.get_desc(), 0}, engine_, forward};
        dx_ = in_layout(dx_, y.get_desc(), backward_);
        memory const dx{y.get_desc(), engine_};
        backward_.push_back(
            {dnnl::eltwise_backward{backward},
             {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dx_}, {DNNL_ARG_DIFF_SRC, dx}}});
        dx_ = dx;
    }

    void run(std::vector<call> const& calls) {
        for (call const& c : calls) {
            c.primitive.execute(stream_, c.arguments);
        }
        stream_.wait();
    }

    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    memory input_, output_, output_gradient_;
    memory x_, dx_; // output of the last layer so far; gradient by it, once built backward
    std::vector<call> forward_, backward_;
    std::vector<std::function<void()>> add_backward_;
    std::vector<std::pair<memory, memory>> parameters_; // and their gradients
};

struct convnet {
    static memory::dims shape(long batch) { return {batch, 1, 28, 28}; }
    static void build(network& net) {
        net.conv(32).pool().conv(64).pool().conv(64).dense(64).dense(10, false).done();
    }
};

struct wide_mlp {
    static memory::dims shape(long batch) { return {batch, 784}; }
    static void build(network& net) { net.dense(512).dense(512).dense(10, false).done(); }
};

struct tiny_mlp {
    static memory::dims shape(long batch) { return {batch, 13}; }
    static void build(network& net) { net.dense(16).dense(32).dense(1, false).done(); }
};

struct lstm {
    static memory::dims shape(long batch) { return {140, batch, 256}; }
    static void build(network& net) { net.lstm(64).dense(10, false).done(); }
};

struct two_sequences { // as one batch
    static memory::dims shape(long batch) { return {140, 2 * batch, 256}; }
    static void build(network& net) { net.lstm(64, 2).dense(10, false).done(); }
};

template <class What, std::size_t Batch>
class trainer {
public:
    trainer() {
        What::build(network_);
        std::iota(order_.begin(), order_.end(), std::size_t{});
        std::shuffle(order_.begin(), order_.end(), std::mt19937{42});
        std::ranges::copy(random_numbers(network_.output().size()),
                          network_.output_gradient().begin());
    }

    void step(std::size_t i) {
        gather(i);
        network_.forward();
        network_.backward();
    }

    // Half the squared error of the first batch, on its way down by plain gradients.
    double descend() {
        gather(0);
        network_.forward();
        std::vector<float> const targets = random_numbers(network_.output().size());
        double loss = 0;
        for (std::size_t j = 0; j < targets.size(); ++j) {
            float const error = network_.output()[j] - targets[j];
            loss += error * error / 2 / Batch;
            network_.output_gradient()[j] = error / Batch;
        }
        network_.backward();
        network_.descend(0.001F);
        return loss;
    }

private:
    void gather(std::size_t i) {
        std::size_t const size = network_.input().size() / Batch;
        for (std::size_t j = 0; j < Batch; ++j) {
            std::size_t const which = order_[i % batches * Batch + j];
            std::copy_n(samples_.data() + which * size, size, network_.input().data() + j * size);
        }
    }

    network network_{What::shape(Batch)};
    std::vector<float> samples_ = random_numbers(batches * network_.input().size());
    std::vector<std::size_t> order_ = std::vector<std::size_t>(batches * Batch);
};

template <class What, std::size_t Batch>
void train(benchmark::State& state) {
    use_threads(int(state.range(0)));
    static bool const trains = [] {
        trainer<What, Batch> training;
        return lowers_loss([&] { return training.descend(); });
    }();
    if (!trains) {
        state.SkipWithError(not_training);
    }
    trainer<What, Batch> training;
    training.step(0);
    std::size_t i = 0;
    for ([[maybe_unused]] auto _ : state) {
        training.step(++i);
    }
    count_samples(state, Batch);
}

BENCHMARK(train<convnet, 32>)->Name("convnet/batch:32")->Apply(training_settings);
BENCHMARK(train<convnet, 128>)->Name("convnet/batch:128")->Apply(training_settings);
BENCHMARK(train<convnet, 512>)->Name("convnet/batch:512")->Apply(training_settings);
BENCHMARK(train<wide_mlp, 128>)->Name("wide_mlp/batch:128")->Apply(training_settings);
BENCHMARK(train<tiny_mlp, 128>)->Name("tiny_mlp/batch:128")->Apply(training_settings);
BENCHMARK(train<lstm, 32>)->Name("lstm/batch:32")->Apply(training_settings);
BENCHMARK(train<two_sequences, 32>)->Name("two_sequences/batch:32")->Apply(training_settings);

} // namespace
