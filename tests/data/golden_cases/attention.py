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


def block(golden, case, layer, memory=None, **arguments):
    golden.begin(case, str(layer))
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    inputs = dict(input=random(BATCH, 5, FEATURES))
    others = []
    if memory:
        others = [torch.randn(BATCH, memory, FEATURES)]
        golden.put(case, input1=others[0])
    inputs.update(layer.named_parameters())
    golden.put_gradients(case, layer(inputs["input"], *others, **arguments), inputs)


def rotary(golden, case):
    """As Hugging Face's Llama turns the queries and keys of each head."""
    golden.begin(case)
    x = random(BATCH, 5, HEADS * 8)
    heads = x.reshape(BATCH, 5, HEADS, 8)
    frequencies = 10000 ** (-torch.arange(0, 8, 2) / 8)
    angles = (torch.arange(5)[:, None] * frequencies).repeat(1, 2)[:, None, :]
    half = torch.cat([-heads[..., 4:], heads[..., :4]], dim=-1)
    turned = heads * angles.cos() + half * angles.sin()
    golden.put_gradients(case, turned.reshape(BATCH, 5, HEADS * 8), dict(input=x))


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
    rotary(golden, "rotary")
    sizes = dict(d_model=FEATURES, nhead=HEADS, dim_feedforward=8, dropout=0, batch_first=True)
    block(golden, "encoder", torch.nn.TransformerEncoderLayer(**sizes))
    block(
        golden,
        "encoder_norm_first",
        torch.nn.TransformerEncoderLayer(**sizes, norm_first=True, activation="gelu"),
        src_mask=causal,
        is_causal=True,
    )
    block(golden, "decoder", torch.nn.TransformerDecoderLayer(**sizes), memory=3, tgt_mask=causal)
    block(golden, "decoder_of_sets", torch.nn.TransformerDecoderLayer(**sizes), memory=3)
    return golden
