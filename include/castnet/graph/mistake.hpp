// Mistakes in a network that only show when it is traced, and the sentence for each.
#pragma once

#include <castnet/core/language.hpp>

#include <cstdint>

namespace castnet {

enum class mistake : std::uint8_t {
    none,
    parameter_in_loss,
    not_constant, // which has been said (compiler_can_trace)
    probabilities_as_logits,
    product_of_activations,
    convolution_with_activation,
    weight_as_value,
    operation_without_gradient,
    no_second_derivative,
    no_gradient_by_argument,
    parameter_in_function,
    axes_of_dense_weight,
    axes_of_conv_weight,
    shared_with_other_shape,
    dropout_rate,
    epsilon_of_norm,
    momentum_of_norm,
    number_of_activation,
    number_of_penalty,
    number_of_initializer,
    padding_beyond_rows,
    position_beyond_axis,
    cell_of_scan,
    joins_cell_and_outside,
    loop_in_cell,
    no_loop_over_time,
    not_step_by_step,
    repeated_block_in_block,
    repeated_block_shares,
    repeated_block_reads,
    repeated_block_on_devices,
    update_of_no_statistic,
    update_by_samples,
    updated_twice,
    statistic_of_another_block,
    mean_of_no_batch,
    too_many_runs,
    penalty_of_shared,
    start_of_shared
};

// A class for each, so that every compiler prints its sentence first.
template <mistake Found>
struct network_has_no_mistake {
    static constexpr bool checked = true;

    static_assert(
        Found != mistake::probabilities_as_logits,
        "castnet: the network ends in softmax, log_softmax or sigmoid, which cross_entropy, "
        "categorical_cross_entropy, binary_cross_entropy and binary_accuracy apply themselves: "
        "leave it out; for probabilities, predict with a network of the same layers that ends in "
        "it and loads the same file");
    static_assert(
        Found != mistake::product_of_activations,
        "castnet: matmul() multiplies with a parameter of role::dense_weight (units, features), "
        "which new_parameter() gives; of two activations it multiplies (..., n, k) and (..., k, "
        "m): for a transposed right factor write matmul_transposed()");
    static_assert(Found != mistake::convolution_with_activation,
                  "castnet: convolve() takes a parameter of role::conv_weight (filters, channels / "
                  "groups, height, width), or (filters, channels / groups, time) for sequences, "
                  "which new_parameter() gives");
    static_assert(
        Found != mistake::weight_as_value,
        "castnet: a parameter of role::dense_weight or conv_weight is for matmul() or "
        "convolve() only (cn::tied_dense multiplies with the transposed one); for "
        "everything else take one of role::vector, or its numbers, weight_values(weight)");
    static_assert(Found != mistake::operation_without_gradient,
                  "castnet: an operation between the result and what it is differentiated with "
                  "respect to has no gradient: one of your own without gradient() "
                  "(castnet/graph/operation.hpp), or, where a gradient is differentiated again, "
                  "that of max pooling, attention, gather_rows, batch_norm in training (layer_norm "
                  "has one), a loop over time or repeat<...>");
    static_assert(Found != mistake::no_second_derivative,
                  "castnet: functions of your own (fn::own) have no second derivative: a gradient "
                  "that is differentiated again may contain only castnet's own");
    static_assert(
        Found != mistake::no_gradient_by_argument,
        "castnet: grad: the function does not depend on an argument that it is differentiated "
        "with respect to, or only through functions without a derivative, such as argmax and "
        "comparisons");
    static_assert(Found != mistake::parameter_in_function,
                  "castnet: grad: the function has layers with parameters, which belong to a "
                  "model: pass what it computes with as arguments");
    static_assert(Found != mistake::parameter_in_loss,
                  "castnet: a loss or metric has a layer with parameters, which belong to a "
                  "network: apply it there and return its result as one more output, "
                  "cn::outputs(a, b)");
    static_assert(Found != mistake::axes_of_dense_weight,
                  "castnet: a parameter of role::dense_weight has two axes (units, features)");
    static_assert(Found != mistake::axes_of_conv_weight,
                  "castnet: a parameter of role::conv_weight has four axes (filters, channels / "
                  "groups, height, width), five for volumes (filters, channels / groups, depth, "
                  "height, width), or three for sequences (filters, channels / groups, time)");
    static_assert(Found != mistake::dropout_rate,
                  "castnet: dropout of attention, transformers and recurrent layers: the rate must "
                  "be in [0, 1)");
    static_assert(Found != mistake::epsilon_of_norm,
                  "castnet: batch_norm, layer_norm and other normalisations: the epsilon, of "
                  "local_response_norm alpha, beta and k, must be finite and not negative");
    static_assert(Found != mistake::momentum_of_norm,
                  "castnet: batch_norm: the momentum is the batch's share of the running "
                  "statistics and must be in [0, 1]; Keras' momentum is 1 - this");
    static_assert(Found != mistake::number_of_activation,
                  "castnet: leaky_relu.slope(...) must be finite, and elu.alpha(...) finite and "
                  "above 0");
    static_assert(Found != mistake::number_of_penalty,
                  "castnet: l1(...) and l2(...): the factor of a penalty must be finite and not "
                  "negative");
    static_assert(Found != mistake::number_of_initializer,
                  "castnet: the number of an initialiser must be finite, and that of "
                  "random_uniform and random_normal not negative");
    static_assert(Found != mistake::padding_beyond_rows,
                  "castnet: embedding: padding_idx() is a row of the table, counted from 0");
    static_assert(Found != mistake::position_beyond_axis,
                  "castnet: select(), take() or x[i] of a symbol: the axis has no such position");
    static_assert(Found != mistake::joins_cell_and_outside,
                  "castnet: the cell of a scan joins a value from outside the loop with one of the "
                  "step, by concat() or the like: give it to the loop as a carry that the cell "
                  "returns unchanged");
    static_assert(
        Found != mistake::cell_of_scan,
        "castnet: the cell of a scan works on numbers and vectors (features) of one step, with "
        "element-wise functions, dense layers, dropout, concat, slice, split and reductions; a "
        "matrix that it carries is a vector of its rows, one after another; "
        "apply everything else to the whole sequence before or after scan, or, where it needs what "
        "the cell carries, as the attention of a decoder may, write the loop as a for loop of C++ "
        "over split<0, steps>(x), whose layers are shared<name, layer>");
    static_assert(
        Found != mistake::loop_in_cell,
        "castnet: the cell of a scan contains a scan or a recurrent layer, but loops over "
        "time do not nest: write the inner one as a for loop of C++, whose layers are "
        "shared<name, layer>, or apply it to the whole sequence before or after scan");
    static_assert(
        Found != mistake::no_loop_over_time,
        "castnet: stateful_predictor is for networks with a recurrent layer, a scan, a "
        "causal convolution or causal attention, whose state it keeps; this one has none: "
        "use predictor and predict_one()");
    static_assert(
        Found != mistake::not_step_by_step,
        "castnet: stateful_predictor computes one step of a sequence after the other, but a layer "
        "of this network needs other steps than those before, or several at once: loops that run "
        "backwards (bidirectional), attention to the same sequence that is not causal or has other "
        "masks, attention to another one with other masks than length_mask, pooling over time, "
        "convolutions over time that are not causal, flatten before a "
        "dense layer, images whose channels are the steps (reshape<time, 3, 4>; of each step, "
        "reshape_to<row_major_shape<time, 3, 4>>), what reads the end of another sequence, and "
        "attention to another sequence that has the same length (give it another one, or its "
        "elements as a vector, input<time * features>, to be reshaped); use predict() with whole "
        "sequences");
    static_assert(
        Found != mistake::repeated_block_in_block,
        "castnet: a block of repeat<N, block> cannot contain repeat<...>: write the inner "
        "layers one after the other, as block<layer, layer, ...>");
    static_assert(Found != mistake::repeated_block_shares,
                  "castnet: a block of repeat<N, block> has parameters of its own in every "
                  "repetition, so it cannot contain shared<name, layer>: write the layers one "
                  "after the other, as block<layer, layer, ...>");
    static_assert(Found != mistake::repeated_block_reads,
                  "castnet: what a block of repeat<N, block> is called with besides x, such as "
                  "masks, gets no gradient, so it cannot depend on parameters that are trained: "
                  "write the layers one after the other");
    static_assert(Found != mistake::repeated_block_on_devices,
                  "castnet: all layers of a block of repeat<N, block> must be on one device: write "
                  "on<device, repeat<N, block>>");
    static_assert(Found != mistake::update_of_no_statistic,
                  "castnet: update(statistic, value): the first argument must be what "
                  "new_statistic() or an update of it has returned; a parameter is changed by the "
                  "optimizer alone");
    static_assert(Found != mistake::update_by_samples,
                  "castnet: update(statistic, value): the value is computed for each sample, but a "
                  "statistic is one for all: take batch_mean(value) or batch_sum(value), also of "
                  "what slices, joins or products of matrices make of parameters alone");
    static_assert(Found != mistake::updated_twice,
                  "castnet: update(statistic, value): the statistic is updated twice in a step: "
                  "give the second update what the first one has returned");
    static_assert(Found != mistake::statistic_of_another_block,
                  "castnet: update(statistic, value): a block of repeat<N, block> updates "
                  "statistics of its own only, and nothing else updates these");
    static_assert(Found != mistake::mean_of_no_batch,
                  "castnet: batch_mean() and batch_sum() are of the batch of a training step: "
                  "where they stand in a layer, if (x.g->trains()) { ... } leaves them out of "
                  "evaluation, predictions and frozen layers");
    static_assert(
        Found != mistake::too_many_runs,
        "castnet: take: the positions have more than 256 runs of neighbours, each of "
        "which is a slice: take the matrix product with a table that has a 1 in each row: "
        "matmul(one_hot<rows>(positions), x), where a formula of channel_index and row_index "
        "gives the positions, or a parameter with .trainable = false that starts "
        "from_function<f>");
    static_assert(
        Found != mistake::shared_with_other_shape,
        "castnet: shared<name, layer> is used where its layer needs parameters of another shape; "
        "apply it to inputs of one shape, or name the other layer differently");
    static_assert(
        Found != mistake::penalty_of_shared,
        "castnet: shared<name, layer> is used with a penalty, l1(...) or l2(...), which its layer "
        "did not have where it was used first: name one layer, shared<\"encoder\", "
        "dense<16>.l2(1e-4)>, and use that everywhere");
    static_assert(
        Found != mistake::start_of_shared,
        "castnet: shared<name, layer> is used with initial values, init(...), init_bias(...) or "
        "padding_idx(...), which its layer did not have where it was used first: name one layer, "
        "shared<\"encoder\", dense<16>.init(he_normal)>, and use that everywhere");
};

} // namespace castnet
