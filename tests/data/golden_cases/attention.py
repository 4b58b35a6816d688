"""Attention: outputs and gradients of torch.nn.MultiheadAttention, batch of 4, float64."""

import torch

from .golden_file import GoldenFile

BATCH, FEATURES, HEADS = 4, 6, 2


def random(*shape):
    return torch.randn(*shape, requires_grad=True)


def attention(golden, case, *others, time=5, memory=None, bias=True, **arguments):
    golden.begin(case, dict(heads=HEADS, memory=memory, bias=bias))
    layer = torch.nn.MultiheadAttention(FEATURES, HEADS, bias=bias, batch_first=True)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    inputs = dict(input=random(BATCH, time, FEATURES))
    keys = inputs["input"]
    if memory:
        keys = torch.randn(BATCH, memory, FEATURES)
        golden.put(case, input1=keys)
    for i, other in enumerate(others):
        golden.put(case, **{f"input{i + 1}": other})
    inputs.update(layer.named_parameters())
    output, _ = layer(inputs["input"], keys, keys, need_weights=False, **arguments)
    golden.put_gradients(case, output, inputs)


def generate():
    golden = GoldenFile()
    attention(golden, "self")
    causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
    attention(golden, "causal", attn_mask=causal)
    attention(golden, "no_bias", bias=False)
    attention(golden, "cross", memory=3)
    lengths = torch.tensor([5.0, 3.0, 1.0, 4.0])
    padding = torch.arange(5)[None, :] >= lengths[:, None]
    attention(golden, "lengths", lengths[:, None], key_padding_mask=padding)
    torch.manual_seed(1)
    mask = torch.randn(BATCH, 5, 5)
    attention(golden, "additive", mask, attn_mask=mask.repeat_interleave(HEADS, 0))
    return golden
