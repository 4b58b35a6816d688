"""Recurrent layers: RNN, GRU and LSTM with their parameters, in float64."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from .golden_file import GoldenFile

LENGTHS = [5, 1, 3, 4]


def last_of(layer, hidden):
    """The state behind the last step of the last layer, directions side by side."""
    h = hidden[0] if isinstance(layer, nn.LSTM) else hidden
    return torch.cat(list(h[-2:] if layer.bidirectional else h[-1:]), dim=1)


def run(layer, x):
    return layer(x)[0]


def run_last(layer, x):
    return last_of(layer, layer(x)[1])


def run_twice(layer, x):
    return run(layer, run(layer, x))


def packed(layer, x):
    return layer(pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False))


def run_lengths(layer, x):
    return pad_packed_sequence(packed(layer, x)[0], batch_first=True, total_length=5)[0]


def run_lengths_last(layer, x):
    return last_of(layer, packed(layer, x)[1])


def case(golden, name, layer, compute=run, batch=4, time=5):
    golden.begin(name)
    x = torch.randn(batch, time, layer.input_size, requires_grad=True)
    layer.reset_parameters()
    golden.put_gradients(name, compute(layer, x), {"input": x, **dict(layer.named_parameters())})


def state_case(golden, name, layer):
    golden.begin(name)
    layer.reset_parameters()
    x = torch.randn(4, 5, layer.input_size, requires_grad=True)
    h = torch.randn(1, 4, layer.hidden_size, requires_grad=True)
    c = torch.randn(1, 4, layer.hidden_size, requires_grad=True)
    inputs = {"input": x, "h": h, "c": c, **dict(layer.named_parameters())}
    golden.put_gradients(name, layer(x, (h, c))[0], inputs)


def generate():
    golden = GoldenFile()

    def rnn(**options):
        return nn.RNN(3, 4, batch_first=True, **options)

    def gru(**options):
        return nn.GRU(3, 4, batch_first=True, **options)

    def lstm(**options):
        return nn.LSTM(3, 4, batch_first=True, **options)

    both = {"num_layers": 2, "bidirectional": True}
    case(golden, "rnn", rnn())
    case(golden, "rnn_relu", rnn(nonlinearity="relu"))
    case(golden, "rnn_both", rnn(bidirectional=True))
    case(golden, "gru", gru())
    case(golden, "gru_last", gru(), run_last)
    case(golden, "gru_no_bias", gru(bias=False))
    case(golden, "gru_stacked_both", gru(**both))
    case(golden, "gru_lengths_both", gru(bidirectional=True), run_lengths)
    case(golden, "lstm", lstm())
    case(golden, "lstm_last", lstm(), run_last)
    case(golden, "lstm_one_step", lstm(), time=1)
    case(golden, "lstm_one_sample", lstm(), batch=1)
    case(golden, "lstm_stacked_both", lstm(**both))
    case(golden, "lstm_stacked_both_last", lstm(**both), run_last)
    case(golden, "lstm_lengths", lstm(), run_lengths)
    case(golden, "lstm_lengths_stacked_both", lstm(**both), run_lengths)
    case(golden, "lstm_lengths_stacked_both_last", lstm(**both), run_lengths_last)
    case(golden, "lstm_twice", nn.LSTM(4, 4, batch_first=True), run_twice)
    state_case(golden, "lstm_state", lstm())
    return golden
