#!/usr/bin/env python3
"""Compares a step of random networks of sequences, with lengths, masks, states and a second sequence, with PyTorch.

    tests/random_networks/sequences.py 0 40           # seeds 0 to 39: right?
    tests/random_networks/sequences.py 0 40 --wide    # wider than tiles of kernels, in double or float
    tests/random_networks/sequences.py 0 40 --time    # larger ones, on one thread or --threads: how fast?

Each network is a function of a sequence of words or features, its lengths, and a memory with other lengths. It is
compiled in double and float. Networks of which each step sees no later ones are also computed step by step and after a
prefill. It prints a line for each, and what differs; it ends with 1 if something does. Needs what compare.py needs.
"""

import copy
import math
import random
from collections import namedtuple

import torch
from torch import nn
from torch.nn import functional as F

import compare

torch.backends.mha.set_fastpath_enabled(False) # which has zeros where keys do not count

Sizes = namedtuple("Sizes", "words steps memory_steps inputs features units feed_forward batch layers")
SMALL = Sizes(words=11, steps=[*range(1, 10), 17, 33], memory_steps=[*range(1, 8), 20], inputs=[1, 3, 4, 8, 12, 24],
              features=[4, 6, 8, 12, 16], units=[1, 3, 4, 8, 16, 20, 33, 64], feed_forward=[5, 16],
              batch=[1, 2, 3, 5, 9], layers=range(1, 6))
WIDE = Sizes(words=131, steps=[1, 2, 7, 17, 33, 65], memory_steps=[1, 7, 20, 33], inputs=[3, 24, 33, 65],
             features=[24, 36, 40, 66, 96, 130], units=[17, 33, 40, 64, 65, 100, 130], feed_forward=[33, 65, 130, 257],
             batch=[1, 2, 3, 7, 9, 17], layers=range(1, 5))
LARGE = Sizes(words=5000, steps=[16, 24, 32, 50, 64, 100, 128], memory_steps=[8, 20, 48, 100], inputs=[1, 4, 16, 32, 64],
              features=[16, 32, 64, 96, 128, 192], units=[8, 16, 24, 32, 48, 64, 100, 128, 256],
              feed_forward=[64, 128, 256, 512], batch=[1, 4, 8, 16, 32, 64], layers=range(2, 5))

# A layer as castnet and PyTorch spell it, the features of its result, whether a step sees no later one, and whether it
# sees earlier ones. PyTorch's has `at`, the sequences by name: x, length, memory, memory_length.
Layer = namedtuple("Layer", "castnet module torch features causal stateful", defaults=(False,))


def call(layer):
    name, *arguments = layer.castnet
    if not arguments:
        return name
    return f"{name}({', '.join(arguments)})" + (".outputs" if name.endswith(".with_state") else "")


def counts(lengths, steps):
    """Which steps count."""
    return torch.arange(steps) < lengths


def rotated(x, heads):
    steps, half = x.shape[1], x.shape[2] // heads // 2
    angle = torch.arange(steps, dtype=x.dtype)[:, None] / 10000 ** (torch.arange(half, dtype=x.dtype) / half)
    a, b = x.unflatten(2, (heads, 2, half)).unbind(3)
    cosine, sine = angle.cos()[:, None], angle.sin()[:, None]
    return torch.stack([a * cosine - b * sine, b * cosine + a * sine], 3).flatten(2)


def attend(f, queries, memory, masks, rotary):
    """nn.MultiheadAttention's, with positions and masks."""
    q, k, v = (F.linear(x, w, b) for x, w, b in zip(
        (queries, memory, memory), f.in_proj_weight.chunk(3),
        f.in_proj_bias.chunk(3) if f.in_proj_bias is not None else (None,) * 3))
    heads = f.num_heads
    if rotary:
        q, k = rotated(q, heads), rotated(k, heads)
    q, k, v = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    added = torch.zeros(len(queries), heads, queries.shape[1], memory.shape[1], dtype=q.dtype)
    for mask in masks:
        added = mask(added)
    y = F.scaled_dot_product_attention(q, k, v, None if masks in ([], [causal]) else added, is_causal=masks == [causal])
    return f.out_proj(y.transpose(1, 2).flatten(2))


def causal(scores):
    return scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -math.inf)


def of_length(lengths):
    return lambda scores: scores.masked_fill(~counts(lengths, scores.shape[-1])[:, None, None], -math.inf)


def alibi(scores):
    heads, queries, keys = scores.shape[1:]
    distance = (torch.arange(queries)[:, None] - torch.arange(keys)).abs()
    slopes = 0.5 ** (8 / heads * (torch.arange(heads, dtype=scores.dtype) + 1))
    return scores - slopes[:, None, None] * distance


ALIBI = """struct alibi {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> scores) const {
        constexpr std::size_t heads = S::extent[0];
        using of_heads = cn::shape<heads, S::count / heads>;
        auto& g = *scores.g;
        auto const distance = cn::abs(cn::row_index<S>(g) - cn::channel_index<S>(g));
        auto const slope = cn::pow(0.5, 8.0 / heads * (cn::row_index<of_heads>(g) + 1));
        return scores - cn::reshape_to<S>(slope * cn::reshape_to<of_heads>(distance));
    }
};
"""


def attention(r, net):
    features = net.features
    heads, across, rotary = r.choice([h for h in (1, 2, 3, 4) if features % h == 0]), r.random() < 0.4, False
    if not across:
        rotary = features // heads % 2 == 0 and r.random() < 0.3
    masks = [("cn::length_mask(memory_length)", lambda at: of_length(at["memory_length"]))] if across else [
        ("cn::causal_mask", lambda at: causal), ("cn::length_mask(length)", lambda at: of_length(at["length"]))]
    masks = r.sample(masks + [("alibi{}", lambda at: alibi)], r.randint(0, len(masks)))
    names = [name for name, _ in masks]
    by_steps = "alibi{}" not in names if across else names == ["cn::causal_mask"]
    bias = r.random() < 0.8
    layer = (f"cn::multi_head_attention<{heads}>" + (".rotary()" if rotary else "") + ("" if bias else ".no_bias()"))
    module = nn.MultiheadAttention(features, heads, bias=bias, batch_first=True)
    of = "memory" if across else "x"
    if across:
        net.memory_features = features
    return Layer((layer, f"x, {of}", *names), module,
                 lambda f, at: attend(f, at["x"], at[of], [mask(at) for _, mask in masks], rotary), features,
                 by_steps, not across)


def recurrent(r, net, sequence=True):
    kind, units = r.choice(["lstm", "gru", "rnn"]), r.choice(net.sizes.units)
    both, layers, bias = r.random() < 0.3, r.choice([1, 1, 2, 3]), r.random() < 0.85
    lengths = r.random() < 0.5
    from_memory = sequence and not both and layers == 1 and r.random() < 0.5
    cell = f"cn::{kind}<{units}>" + (f".template layers<{layers}>()" if layers > 1 else "")
    cell += "" if bias else ".no_bias()"
    cell = f"cn::bidirectional<{cell}>" if both else cell
    cell += ".return_sequences()" if sequence else ""
    module = getattr(nn, kind.upper())(net.features, units, layers, bias=bias, batch_first=True, bidirectional=both)
    states = 2 if kind == "lstm" else 1
    more = ()
    if from_memory: # the first units of memory's first step, twice for an LSTM
        net.memory_features = net.memory_features or max(units, 8)
        if units > net.memory_features:
            return None
        more = (f"cn::reshape_to<cn::shape<{units}>>(cn::slice<1, 0, {units}>(cn::slice<0, 0, 1>(memory)))",) * states
        cell = cell.replace(".return_sequences()", ".with_state")

    def compute(f, at):
        x = at["x"]
        state = None
        if from_memory:
            first = at["memory"][:, 0, :units][None].contiguous()
            state = (first, first) if states == 2 else first
        if lengths:
            packed = nn.utils.rnn.pack_padded_sequence(x, at["length"][:, 0].long(), True, False)
            y, last = f(packed, state)
            y = nn.utils.rnn.pad_packed_sequence(y, True, total_length=x.shape[1])[0]
        else:
            y, last = f(x, state)
        last = last[0] if states == 2 else last
        return y if sequence else torch.cat([last[-2], last[-1]], 1) if both else last[-1]
    x = "cn::with_lengths(x, length)" if lengths else "x"
    return Layer((cell, x, *more), module, compute, 2 * units if both else units, not both, True)


# Cells of a scan, as castnet and PyTorch spell them: of a step's product x with a weight and a state h, f is the layers.
Cell = namedtuple("Cell", "castnet torch states")
CELLS = [Cell("cn::tanh(x + (h | cn::named<\"back\", cn::dense<{u}>>))", lambda f, x, h: ((x + f["back"](h)).tanh(),) * 2,
              1),
         Cell("cn::carry(0.8 * h + cn::sin(x)).output(x * h)", lambda f, x, h: (x * h, 0.8 * h + x.sin()), 1),
         Cell("cn::carry(cn::silu(x + h - cn::mean(h)), 0.5 * c + h).output(c - x)",
              lambda f, x, h, c: (c - x, F.silu(x + h - h.mean(-1, keepdim=True)), 0.5 * c + h), 2),
         Cell("cn::tanh(x - 0.5 * (h | cn::named<\"back\", cn::dense<{u}>>))",
              lambda f, x, h: ((x - 0.5 * f["back"](h)).tanh(),) * 2, 1),
         Cell("cn::carry(c, cn::tanh(x - 0.5 * h)).output(h * c)", lambda f, x, h, c: (h * c, c, (x - 0.5 * h).tanh()), 2),
         Cell("cn::carry(0.5 + 0.7 * c, h + cn::sin(x)).output(h - c)",
              lambda f, x, h, c: (h - c, 0.5 + 0.7 * c, h + x.sin()), 2),
         Cell("cn::carry(cn::where(x > h, x, 0.9 * h), cn::tanh(h | cn::named<\"back\", cn::dense<{u}>.no_bias()>) + c)"
              ".output(cn::sigmoid(c) * h)",
              lambda f, x, h, c: (c.sigmoid() * h, torch.where(x > h, x, 0.9 * h), f["back"](h).tanh() + c), 2)]


# A value within a cell: its text, how many numbers, the earlier values that it is made of, and PyTorch's function of
# the layers and these.
Value = namedtuple("Value", "castnet width of torch")


def halves(values, i):
    """The two slices of a value."""
    half = values[i].width // 2
    return [Value(f"cn::slice<0, {k * half}, {(k + 1) * half}>(v{i})", half, [i],
                  lambda f, x, k=k: x[:, k * half:(k + 1) * half]) for k in (0, 1)]


def next_value(r, values, units, layers):
    """Made of one of the last values, or of two."""
    i = r.choice(range(len(values))[-5:])
    width = values[i].width
    j = r.choice([k for k, v in enumerate(values) if v.width == width])
    kind = r.choice(["one", "one", "two", "two", "two", "dense", "half", "concat", "mean", "max"])
    if kind == "one":
        text, function = r.choice([("cn::tanh(v{i})", torch.tanh), ("cn::sigmoid(v{i})", torch.sigmoid),
                                   ("cn::sin(v{i})", torch.sin), ("cn::silu(v{i})", F.silu),
                                   ("0.5 * v{i}", lambda x: 0.5 * x), ("1 - v{i}", lambda x: 1 - x)])
        return Value(text.format(i=i), width, [i], lambda f, x: function(x))
    if kind == "two":
        text, function = r.choice([("v{i} * v{j}", lambda x, y: x * y), ("v{i} - v{j}", lambda x, y: x - y),
                                   ("v{i} + 0.5 * v{j}", lambda x, y: x + 0.5 * y),
                                   ("cn::maximum(v{i}, v{j})", torch.maximum),
                                   ("cn::where(v{i} > 0, v{j}, 0.3 * v{i})", lambda x, y: torch.where(x > 0, y, 0.3 * x))])
        return Value(text.format(i=i, j=j), width, [i, j], lambda f, x, y: function(x, y))
    if kind == "dense":
        name, width = f"d{len(layers)}", r.choice([units, units, 2 * units])
        layers[name] = (values[i].width, width, r.random() < 0.7)
        bias = "" if layers[name][2] else ".no_bias()"
        return Value(f'(v{i} | cn::named<"{name}", cn::dense<{width}>{bias}>)', width, [i], lambda f, x: f[name](x))
    if kind == "half" and width % 2 == 0:
        return r.choice(halves(values, i))
    j = r.randrange(len(values))
    if kind == "concat" and width + values[j].width <= 4 * units:
        return Value(f"cn::concat(v{i}, v{j})", width + values[j].width, [i, j], lambda f, x, y: torch.cat([x, y], 1))
    text, function = r.choice([("mean", lambda x: x.mean(1, keepdim=True)), ("max", lambda x: x.amax(1, keepdim=True))])
    return Value(f"v{i} - cn::{text}(v{i})", width, [i], lambda f, x: x - function(x))


def random_cell(r, given, units):
    """A cell of a step of so many numbers and one or two states, its layers and the width of its output."""
    count, layers = r.choice([1, 1, 2]), {}
    values = [Value(name, width, [], None) for name, width in zip("xhc", [given, units, units][:1 + count])]
    for _ in range(r.randint(2, 7)):
        values.append(next_value(r, values, units, layers))
    carries = []
    for state in range(count):
        fitting = [i for i, v in enumerate(values) if v.width == units]
        i, before = r.choice(fitting[-3:]), 1 + state
        carries.append(r.choice([
            Value(f"cn::tanh(v{i})", units, [i], lambda f, x: x.tanh()),
            Value(f"cn::sigmoid(v{i}) - 0.5", units, [i], lambda f, x: x.sigmoid() - 0.5),
            Value(f"0.6 * v{before} + 0.4 * cn::tanh(v{i})", units, [before, i], lambda f, h, x: 0.6 * h + 0.4 * x.tanh()),
            Value(f"v{1 + (state + 1) % count}", units, [1 + (state + 1) % count], lambda f, x: x)]))
    last = len(values) - 1
    means = [f"cn::mean(v{i})" for i in range(1 + count)]  # so that all of it counts
    out = Value(f"v{last} + 0.1 * ({' + '.join(means)})", values[last].width, [last, *range(1 + count)],
                lambda f, y, *x: y + 0.1 * sum(v.mean(1, keepdim=True) for v in x))
    used = {i for v in [out, *carries] for i in v.of}
    for i in reversed(range(len(values))):
        used |= set(values[i].of) if i in used else set()
    layers = {name: sizes for name, sizes in layers.items()
              if any(i in used and f'"{name}"' in v.castnet for i, v in enumerate(values))}
    lines = "".join(f"auto const v{i} = {v.castnet}; " for i, v in enumerate(values) if i in used)

    def compute(f, *given):
        at = list(given)
        for i, v in enumerate(values[len(at):], len(at)):
            at.append(v.torch(f, *(at[k] for k in v.of)) if i in used else None)
        return tuple(v.torch(f, *(at[i] for i in v.of)) for v in [out, *carries])
    text = f"{lines}return cn::carry({', '.join(v.castnet for v in carries)}).output({out.castnet})"
    return Cell(text, compute, count), layers, out.width


def scan(r, net):
    """A loop with a cell."""
    units = r.choice(net.sizes.features)
    if r.random() < 0.4:
        cell = r.choice(CELLS)
        given, body, result = units, "return " + cell.castnet.replace("{u}", str(units)), units
        layers = {"back": (units, units, "no_bias" not in cell.castnet)} if "back" in cell.castnet else {}
    else:
        given = r.choice([units, 2 * units, 3 * units, 0])  # 0: the sequence as it is
        cell, layers, result = random_cell(r, given or net.features, units)
        body = cell.castnet
    if given:
        layers = {"into": (net.features, given, True), **layers}
    backward, lengths = r.random() < 0.3, r.random() < 0.5
    module = nn.ModuleDict({name: nn.Linear(*sizes) for name, sizes in layers.items()})

    def compute(f, at):
        into = f["into"](at["x"]) if given else at["x"]
        samples, steps = into.shape[:2]
        used = counts(at["length"], steps) if lengths else torch.ones(samples, steps, dtype=torch.bool)
        state = [torch.zeros(samples, units, dtype=into.dtype) for _ in range(cell.states)]
        outputs = [None] * steps
        for t in reversed(range(steps)) if backward else range(steps):
            y, *after = cell.torch(f, into[:, t], *state)
            now = used[:, t, None]
            outputs[t] = torch.where(now, y, 0)
            state = [torch.where(now, new, old) for new, old in zip(after, state)]
        return torch.stack(outputs, 1)
    steps = f'x | cn::named<"into", cn::dense<{given}>>' if given else "x"
    steps = f"cn::with_lengths({steps}, length)" if lengths else steps
    steps = f"cn::backward({steps})" if backward else steps
    zeros = ", ".join([f"cn::shape<{units}>{{}}"] * cell.states)
    names = ", ".join(["auto x", "auto h", "auto c"][:1 + cell.states])
    return Layer((f"cn::scan({steps}, {zeros}, []({names}) {{ {body}; }}).outputs",), module, compute, result,
                 not backward, True)


def repeated(r, net):
    """A loop that keeps the number of features, several times."""
    sizes, memory = net.sizes, net.memory_features
    net.sizes = sizes._replace(units=[net.features], features=[net.features])
    layer = r.choice([scan, recurrent])(r, net)
    net.sizes, net.memory_features = sizes, memory
    if not layer or layer.features != net.features or "memory" in call(layer):
        return None
    blocks = nn.ModuleList(copy.deepcopy(layer.module) for _ in range(r.choice([2, 3])))

    def compute(f, at):
        at = dict(at)
        for block in f:
            at["x"] = layer.torch(block, at)
        return at["x"]
    return Layer((f"cn::repeat<{len(blocks)}, [](auto x, auto length) {{ return {call(layer)}; }}>", "x", "length"), blocks,
                 compute, layer.features, layer.causal, True)


def transformer(r, net):
    heads = r.choice([h for h in (1, 2, 3, 4) if net.features % h == 0])
    units, first = r.choice(net.sizes.feed_forward), r.random() < 0.5
    is_causal, decoder = r.random() < 0.5, r.random() < 0.4
    activation = r.choice(["relu", "gelu"])
    options = f"cn::transformer{{.feed_forward = {units}, .dropout = 0, .norm_first = {str(first).lower()}"
    options += ", .causal = true}" if is_causal and not decoder else "}"
    masked = r.random() < 0.5
    kind = nn.TransformerDecoderLayer if decoder else nn.TransformerEncoderLayer
    times = r.choice([1, 1, 2, 3])
    blocks = [kind(net.features, heads, units, 0.0, activation, batch_first=True, norm_first=first)
              for _ in range(times)]
    module = nn.ModuleList(blocks) if times > 1 else blocks[0]
    name = "decoder" if decoder else "encoder"
    lengths = "memory_length" if decoder else "length"
    if decoder:
        net.memory_features = net.features

    def compute(f, at):
        x = at["x"]
        later = torch.ones(x.shape[1], x.shape[1]).triu(1) > 0
        of = at["memory" if decoder else "x"]
        ignored = ~counts(at[lengths], of.shape[1]) if masked else None
        for block in f if times > 1 else [f]:
            if decoder:
                x = block(x, of, later, memory_key_padding_mask=ignored)
            else:
                x = block(x, later if is_causal else None, ignored)
        return x
    layer = f"cn::transformer_{name}_layer<{heads}, {options}, cn::{activation}>"
    return Layer((f"cn::repeat<{times}, {layer}>" if times > 1 else layer, "x",
                  *(["memory"] if decoder else []), *([f"cn::length_mask({lengths})"] if masked else [])),
                 module, compute, net.features, decoder or is_causal and not masked, True)


def of_steps(r, net):
    """Of each step by itself."""
    units = r.choice(net.sizes.features)
    name, module, features = r.choice([
        (f"cn::dense<{units}>", lambda: nn.Linear(net.features, units), units),
        (f"cn::weight_norm<cn::dense<{units}>>",
         lambda: compare.NormalisedWeight(nn.Linear(net.features, units), False), units),
        (f"cn::spectral_norm<cn::dense<{units}>>",
         lambda: compare.NormalisedWeight(nn.Linear(net.features, units), True), units),
        ("cn::prelu.per_channel()", lambda: nn.PReLU(net.features), net.features),
        ("cn::tanh", nn.Tanh, net.features), ("cn::gelu", nn.GELU, net.features),
        ("cn::layer_norm", lambda: nn.LayerNorm(net.features), net.features),
        ("cn::rms_norm", lambda: nn.RMSNorm(net.features, 1.1920929e-7), net.features)])
    return Layer((name, "x"), module(), of_each_step, features, True)


def of_each_step(f, at):
    x = at["x"]
    return f(x.flatten(0, 1)).unflatten(0, x.shape[:2])


def of_matrices(r, net):
    """Of the features of each step, seen as a matrix."""
    rows = r.choice([n for n in (1, 2, 3, 4) if net.features % n == 0])
    columns, times = net.features // rows, r.choice([1, 2, 3])
    matrix = f"x | cn::reshape_to<cn::row_major_shape<{net.steps}, {rows}, {columns}>>"
    result, compute, features = r.choice([
        (f"cn::repeat_interleave<1, {times}>({matrix})", lambda x: x.repeat_interleave(times, 2), times * net.features),
        (f"cn::tile<1, {times}, 2>({matrix})", lambda x: x.tile(times, 2), 2 * times * net.features),
        (f"cn::permute<0, 2, 1>({matrix})", lambda x: x.mT, net.features),
        (f"cn::mean<1>({matrix})", lambda x: x.mean(2), columns),
        (f"cn::matmul_transposed({matrix}, cn::tanh({matrix}))", lambda x: x @ x.tanh().mT, rows * rows),
        (f"cn::reverse<1>({matrix})", lambda x: x.flip(2), net.features),
        (f"cn::cumsum(cn::tanh({matrix}))", lambda x: x.tanh().cumsum(3), net.features),
        (f"cn::layer_norm.no_affine()({matrix})", lambda x: F.layer_norm(x, (columns,)), net.features)])
    return Layer((f"cn::reshape_to<cn::shape<{net.steps}, {features}>>", result), nn.Identity(),
                 lambda _, at: compute(at["x"].unflatten(2, (rows, columns))).reshape(*at["x"].shape[:2], features),
                 features, True)


def positions(r, net):
    if r.random() < 0.5:
        table = nn.Module()
        table.weight = nn.Parameter(torch.randn(net.steps, net.features))
        return Layer(("cn::learned_positions", "x"), table, lambda f, at: at["x"] + f.weight, net.features, True)
    if net.features % 2:
        return None

    def waves(_, at):
        x = at["x"]
        half = x.shape[2] // 2
        angle = torch.arange(x.shape[1], dtype=x.dtype)[:, None] / 10000 ** (torch.arange(half, dtype=x.dtype) / half)
        return x + torch.stack([angle.sin(), angle.cos()], 2).flatten(1)
    return Layer(("cn::sinusoidal_positions", "x"), nn.Identity(), waves, net.features, True)


def convolution(r, net):
    filters, kernel, dilation = r.choice(net.sizes.features), r.choice([1, 2, 3]), r.choice([1, 2])
    text = f"cn::conv1d<{filters}, {kernel}, cn::conv{{.padding = cn::causal, .dilation = {dilation}}}>"
    module = nn.Conv1d(net.features, filters, kernel, dilation=dilation)
    if r.random() < 0.3:
        text, module = f"cn::weight_norm<{text}>", compare.NormalisedWeight(module, False)

    def compute(f, at):
        return f(F.pad(at["x"].mT, ((kernel - 1) * dilation, 0))).mT
    return Layer((text, "x"), module, compute, filters, True, kernel > 1)


def pooling(r, net):
    """A vector of the sequence."""
    most, lengths = r.random() < 0.4, r.random() < 0.6

    def compute(_, at):
        x = at["x"]
        used = counts(at["length"] if lengths else torch.full((len(x), 1), x.shape[1]), x.shape[1])[:, :, None]
        if most:
            return x.masked_fill(~used, -math.inf).amax(1)
        return (x * used).sum(1) / used.sum(1)
    return Layer((f"cn::global_{'max' if most else 'avg'}_pool1d", "x", *(["length"] if lengths else [])), nn.Identity(),
                 compute, net.features, False)


class Computation(nn.Module):
    """A network's layers, of its columns side by side."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        for i, part in enumerate(net.parts):
            self.add_module(f"l{i}", part.module)

    def forward(self, x):
        at = self.net.named(x)
        for i, (part, kept) in enumerate(zip(self.net.parts, self.net.residual)):
            y = part.torch(self.get_submodule(f"l{i}"), at)
            at["x"] = at["x"] + y if kept else y
        return at["x"]


def embedding(net, width):
    words = net.sizes.words
    return Layer((f"cn::embedding<{words}, {width}>", "x"), nn.Embedding(words, width),
                 lambda f, at: f(at["x"].squeeze(-1).long()), width, True)


def rows_of_memory(net, width):
    """Of the memory, as often as it takes to have one for each word, the rows that the words name."""
    net.memory_features, times = width, -(-net.sizes.words // net.memory_steps)

    def rows(f, at):
        return at["memory"].tile(1, times, 1).gather(1, at["x"].long().expand(-1, -1, width))
    return Layer(("cn::gather_rows", f"cn::tile<{times}, 1>(memory)", "x"), nn.Identity(), rows, width, False)


class SequenceNetwork(compare.Network):
    def __init__(self, seed, sizes):
        r = random.Random(seed)
        torch.manual_seed(seed)
        self.sizes, self.input = sizes, ()
        self.steps, self.memory_steps = r.choice(sizes.steps), r.choice(sizes.memory_steps)
        self.words = r.random() < 0.4
        self.features = self.input_features = r.choice(sizes.inputs)
        self.memory_features = 0 # until a layer wants some
        self.batch = r.choice(sizes.batch)
        self.parts, self.residual = [], []
        if self.words:
            width = r.choice(sizes.features)
            of_memory = sizes is not LARGE and random.Random(seed + 1).random() < 0.3
            self.add((rows_of_memory if of_memory else embedding)(self, width), False)
        kinds = [attention, recurrent, scan, transformer, of_steps] * 2 + [repeated, recurrent, of_steps, of_matrices,
                                                                           positions, convolution]
        for _ in range(r.choice(sizes.layers)):
            layer = self.fitting(r, kinds)
            self.add(layer, layer.features == self.features and r.random() < 0.4)
        self.is_sequence = r.random() < 0.6
        if not self.is_sequence:
            self.add(self.fitting(r, [pooling, lambda r, net: recurrent(r, net, False)]), False)
        units = r.choice([1, 2, 5])
        self.add(Layer((f"cn::dense<{units}>", "x"), nn.Linear(self.features, units), lambda f, at: f(at["x"]), units,
                       True), False)
        self.output = (self.steps, units) if self.is_sequence else (units,)
        # (a memory of as many steps would be taken step by step, too)
        self.is_causal = (self.is_sequence and self.steps != self.memory_steps and all(part.causal for part in self.parts)
                          and any(part.stateful for part in self.parts))
        self.memory_features = self.memory_features or 2
        self.columns = {"x": (self.steps, 1 if self.words else self.input_features), "length": (1,),
                        "memory": (self.memory_steps, self.memory_features), "memory_length": (1,)}
        self.counts = compare.COUNTS if sizes is WIDE else []
        samples = max(self.batch, *self.counts, 0)
        parts = {name: torch.randn(samples, *shape) for name, shape in self.columns.items()}
        parts["length"] = torch.randint(1, self.steps + 1, (samples, 1)).float()
        parts["memory_length"] = torch.randint(1, self.memory_steps + 1, (samples, 1)).float()
        if self.words:
            parts["x"] = torch.randint(sizes.words, (samples, self.steps, 1)).float()
        self.x = torch.cat([part.flatten(1) for part in parts.values()], 1)
        self.y = torch.randn(samples, *self.output)
        self.torch = Computation(self)

    def add(self, layer, is_residual):
        self.parts.append(layer)
        self.residual.append(is_residual)
        self.features = layer.features

    def fitting(self, r, kinds):
        """A layer that takes the memory that those before took."""
        while True:
            before = self.memory_features
            layer = r.choice(kinds)(r, self)
            if layer and self.memory_features in (before, before or self.memory_features):
                return layer
            self.memory_features = before

    def named(self, x):
        """The columns of x by their names."""
        parts = x.split([math.prod(shape) for shape in self.columns.values()], 1)
        return {name: part.unflatten(1, shape) for part, (name, shape) in zip(parts, self.columns.items())}

    def __str__(self):
        layers = "; ".join(("+ " if kept else "") + call(part) for part, kept in zip(self.parts, self.residual))
        return (f"{'words' if self.words else self.input_features} in {self.steps} steps, memory "
                f"{self.memory_steps} x {self.memory_features}, batch {self.batch}"
                f"{', also by steps' if self.is_causal else ''}: {layers}").replace("cn::", "")

    def write(self, folder, number, device):
        super().write(folder, number, device)
        for name, part in self.named(self.x).items():
            part.contiguous().numpy().tofile(folder / f"{name}.bin")

    def source(self, number, device):
        lines = []
        for i, (part, kept) in enumerate(zip(self.parts, self.residual)):
            lines.append(f"        auto const l{i} = [&](auto x) {{\n"
                         f'            cn::scope_guard const scope{{*x.g, "l{i}"}};\n'
                         f"            return {'x + ' if kept else ''}{call(part)};\n"
                         f"        }}({'l' + str(i - 1) if i else 'words'});\n")
        sizes = {name: math.prod(shape) for name, shape in self.columns.items()}
        kind, given = ("ids", self.sizes.words) if self.words else ("shape", self.steps)
        given = f"{given}, {self.steps if self.words else self.input_features}"
        memory = f"{self.memory_steps}, {self.memory_features}"
        return (f"#include <castnet/castnet.hpp>\n"
                f"namespace cn = castnet;\n"
                f"using policy = {compare.policy(number, device)};\n"
                f"constexpr cn::size_t batch = {self.batch}, capacity = {self.batch};\n"
                f"constexpr std::initializer_list<cn::size_t> counts{{{', '.join(map(str, self.counts))}}};\n"
                f"using output = cn::shape<{', '.join(map(str, self.output))}>;\n"
                f"using dataset = cn::data::dataset<output, cn::{kind}<{given}>, cn::length_of<{self.steps}>, "
                f"cn::shape<{memory}>, cn::length_of<{self.memory_steps}>>;\n"
                f"{ALIBI}"
                f"struct random_function {{\n"
                f"    constexpr auto operator()(auto words, auto length, auto memory, auto memory_length) const {{\n"
                f"{''.join(lines)}"
                f"        return l{len(lines) - 1} + 0 * (cn::sum(memory) + memory_length + length);\n"
                f"    }}\n"
                f"}};\n"
                f"using network = cn::network<random_function{{}}, cn::input{'_ids' if self.words else ''}<{given}>, "
                f"cn::input_length<{self.steps}>, cn::input<{memory}>, cn::input_length<{self.memory_steps}>>;\n"
                f"auto const in_x = [](auto const& column) {{\n"
                f'    auto const x = column("x.bin", {sizes["x"]});\n'
                f"    return std::vector<{'std::int32_t' if self.words else number}>(x.begin(), x.end());\n"
                f"}};\n"
                f"auto columns(auto const& column) {{\n"
                f'    auto const length = column("length.bin", 1), memory_length = column("memory_length.bin", 1);\n'
                f'    auto const x = in_x(column);\n'
                f'    return dataset{{{"x" if self.words else "std::vector<float>(x.begin(), x.end())"},\n'
                f'                   std::vector<int>(length.begin(), length.end()),\n'
                f'                   column("memory.bin", {sizes["memory"]}),\n'
                f'                   std::vector<int>(memory_length.begin(), memory_length.end()),\n'
                f'                   column("y.bin", {math.prod(self.output)})}};\n}}\n'
                f"{self.by_steps(sizes, number)}")

    def by_steps(self, sizes, number):
        """The outputs of all steps of each sample, and that after a prefill."""
        if not self.is_causal or self.sizes is LARGE:
            return "auto by_steps(auto const&, auto const&) { return std::vector<double>{}; }\n"
        features, memory = sizes["x"] // self.steps, sizes["memory"]
        return (f"auto by_steps(auto const& model, auto const& column) {{\n"
                f"    std::vector<double> outputs;\n"
                f"    auto const numbers = [&](char const* file, std::size_t size) {{\n"
                f"        auto const all = column(file, size);\n"
                f"        return std::vector<{number}>(all.begin(), all.end());\n"
                f"    }};\n"
                f"    auto const x = in_x(column);\n"
                f'    auto const memory = numbers("memory.bin", {memory});\n'
                f"    auto const lengths = [&](char const* file) {{\n"
                f"        auto const all = column(file, 1);\n"
                f"        return std::vector<std::int32_t>(all.begin(), all.end());\n"
                f"    }};\n"
                f'    auto const length = lengths("length.bin"), memory_length = lengths("memory_length.bin");\n'
                f"    for (std::size_t n = 0; n < batch; ++n) {{\n"
                f"        cn::stateful_predictor steps{{model}};\n"
                f"        auto const add = [&](auto const& output) {{\n"
                f"            outputs.insert(outputs.end(), output.begin(), output.end());\n"
                f"        }};\n"
                f"        auto const of_memory = std::span(memory).subspan(n * {memory}).template first<{memory}>();\n"
                f"        auto const of_sample = std::span(x).subspan(n * {sizes['x']}, {sizes['x']});\n"
                f"        for (std::size_t t = 0; t < {self.steps}; ++t) {{\n"
                f"            auto const of_step = of_sample.subspan(t * {features}).template first<{features}>();\n"
                f"            add(steps.predict(of_step, length[n], of_memory, memory_length[n]));\n"
                f"        }}\n"
                f"        add(steps.prefill(of_sample, std::span(length).subspan(n, 1), of_memory,\n"
                f"                          std::span(memory_length).subspan(n, 1)));\n"
                f"    }}\n"
                f"    return outputs;\n"
                f"}}\n")


def main():
    parser = compare.options(__doc__, "random_sequences")
    parser.add_argument("--time", action="store_true", help="milliseconds of a step instead of results")
    parser.add_argument("--threads", type=int, default=1, help="those of a timed step; default: 1")
    given = parser.parse_args()
    sizes = compare.sizes_of(given, SMALL, WIDE, LARGE)
    compare.run_all(given, lambda seed: SequenceNetwork(seed, sizes), ["double", "float"])


if __name__ == "__main__":
    main()
