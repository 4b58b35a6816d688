#!/usr/bin/env python3
"""Compares random functions of symbols with PyTorch: predictions and a step of gradient descent.

    tests/random_networks/functions.py 0 40          # seeds 0 to 39

Each is a chain of functions of an image, a volume, or a tensor of one to five axes, between two layers; it is compiled
in double, and computes on 1 and 3 threads with the same bits. Needs what compare.py needs.
"""

import math
import random
from collections import namedtuple

import torch
from torch import nn

import compare
from compare import Function, Layer

# A function of x as castnet and PyTorch spell it, with the shape of its result and whether that is "rows" (row-major),
# an "image" or a "volume". Axes are counted from the one after the batch.
Step = namedtuple("Step", "castnet torch shape kind")

MOST_ELEMENTS, MOST_AXES = 600, 5


def numbers(values):
    return ", ".join(map(str, values))


def with_extent(shape, axis, extent):
    return (*shape[:axis], extent, *shape[axis + 1:])


def along_axis(r, shape, kind):
    axis = r.randrange(len(shape))
    extent, dim = shape[axis], axis + 1
    begin = r.randrange(extent)
    end = r.randint(begin + 1, extent)
    before, after = r.randint(0, 2), r.randint(1, 2)
    some = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))

    def first(x):
        for a in some:
            x = x.narrow(a + 1, 0, 1)
        return x

    def border(x, mode):
        inside = list(range(extent))
        places = {"reflection": inside[1:2] + inside + inside[-2:-1], "replication": [0] + inside + [extent - 1] * 2,
                  "circular": inside + inside[:1]}[mode]
        return x.index_select(dim, torch.tensor(places))

    def padded(x, value):
        def of(count):
            return x.new_full((x.shape[0], *with_extent(shape, axis, count)), value)
        return torch.cat([of(before), x, of(after)], dim)

    text = "x"
    for a in some:
        text = f"cn::slice<{a}, 0, 1>({text})"
    longer = with_extent(shape, axis, before + extent + after)
    yield Step(f"cn::slice<{axis}, {begin}, {end}>(x)", lambda x: x.narrow(dim, begin, end - begin),
               with_extent(shape, axis, end - begin), kind)
    yield Step(f"x * {text} + 0.1", lambda x: x * first(x) + 0.1, shape, kind)
    yield Step(f"cn::flip<{axis}>(x)", lambda x: x.flip(dim), shape, kind)
    shift, ids = r.randint(-extent, extent), [r.randrange(extent) for _ in range(r.randint(1, 4))]
    yield Step(f"cn::roll<{axis}>(x, {shift})", lambda x: x.roll(shift, dim), shape, kind)
    yield Step(f"cn::take<{axis}>(x, std::array{{{numbers(ids)}}})", lambda x: x.index_select(dim, torch.tensor(ids)),
               with_extent(shape, axis, len(ids)), kind)
    yield Step(f"cn::pad<{axis}, {before}, {after}>(x)", lambda x: padded(x, 0), longer, kind)
    yield Step(f"cn::pad<{axis}, {before}, {after}>(x, 0.5)", lambda x: padded(x, 0.5), longer, kind)
    yield Step(f"x | cn::replication_pad<{axis}, 1, 2>", lambda x: border(x, "replication"),
               with_extent(shape, axis, extent + 3), kind)
    yield Step(f"x | cn::circular_pad<{axis}, 0, 1>", lambda x: border(x, "circular"),
               with_extent(shape, axis, extent + 1), kind)
    yield Step(f"cn::concatenate<{axis}>(x, cn::tanh(x))", lambda x: torch.cat([x, torch.tanh(x)], dim),
               with_extent(shape, axis, 2 * extent), kind)
    if extent > 1:
        yield Step(f"x | cn::reflection_pad<{axis}, 1, 1>", lambda x: border(x, "reflection"),
                   with_extent(shape, axis, extent + 2), kind)
    if extent % 2 == 0:
        def gated(x):
            a, b = x.chunk(2, dim)
            return a * torch.sigmoid(b)
        yield Step(f"[&] {{ auto const [a, b] = cn::split<{axis}, 2>(x); return a * cn::sigmoid(b); }}()", gated,
                   with_extent(shape, axis, extent // 2), kind)


def of_elements(r, shape, kind):
    yield Step("cn::sin(x) * x + 0.5", lambda x: torch.sin(x) * x + 0.5, shape, kind)
    yield Step("cn::where(x > 0.1, x, cn::exp(x * 0.3))", lambda x: torch.where(x > 0.1, x, torch.exp(x * 0.3)), shape,
               kind)
    yield Step("cn::maximum(x, 0.25 - x)", lambda x: torch.maximum(x, 0.25 - x), shape, kind)
    yield Step("cn::square(x - cn::mean(x))", lambda x: (x - x.mean(tuple(range(1, x.dim())), keepdim=True)) ** 2, shape,
               kind)
    channels = len(shape) if kind == "rows" else 1
    yield Step("x | cn::softmax", lambda x: torch.softmax(x, channels), shape, kind)
    axes = r.sample(range(len(shape)), len(shape))
    yield Step(f"cn::permute<{numbers(axes)}>(x)", lambda x: x.permute(0, *(a + 1 for a in axes)),
               tuple(shape[a] for a in axes), kind)


REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin,
              "norm": lambda x, dims, keepdim: (x * x).sum(dims, keepdim=keepdim).sqrt(),
              "variance": lambda x, dims, keepdim: x.var(dims, unbiased=False, keepdim=keepdim),
              "logsumexp": torch.logsumexp}


def reductions(r, shape, kind):
    axes = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))
    dims = tuple(a + 1 for a in axes)
    kept = tuple(extent for a, extent in enumerate(shape) if a not in axes)
    ones = tuple(1 if a in axes else extent for a, extent in enumerate(shape))
    name = r.choice(list(REDUCTIONS))
    reduce = REDUCTIONS[name]
    if kept:
        yield Step(f"cn::{name}<{numbers(axes)}>(x)", lambda x: reduce(x, dims, keepdim=False), kept, kind)
    yield Step(f"cn::{name}<{numbers(axes)}>(x, cn::keepdims)", lambda x: reduce(x, dims, keepdim=True), ones, kind)
    yield Step(f"x * cn::{name}<{numbers(axes)}>(x, cn::keepdims)", lambda x: x * reduce(x, dims, keepdim=True), shape,
               kind)
    def product(x, keepdim):
        x = torch.sigmoid(x) + 0.5
        for dim in reversed(dims):
            x = x.prod(dim, keepdim=keepdim)
        return x
    multiplied = f"cn::prod<{numbers(axes)}>(cn::sigmoid(x) + 0.5"
    if kept:
        yield Step(f"{multiplied})", lambda x: product(x, False), kept, kind)
    yield Step(f"{multiplied}, cn::keepdims)", lambda x: product(x, True), ones, kind)
    count = r.randint(1, shape[-1])
    yield Step(f"[&] {{ auto const [v, i] = cn::largest<{count}>(x); return v + 0.1 * i; }}()",
               lambda x: x.topk(count).values + 0.1 * x.topk(count).indices.to(x), (*shape[:-1], count), kind)
    yield Step("0.1 * cn::cumsum(x)", lambda x: 0.1 * x.cumsum(-1), shape, kind)
    axis = axes[0]
    yield Step(f"x + 0.01 * cn::argmax<{axis}>(x, cn::keepdims)",
               lambda x: x + 0.01 * x.argmax(axis + 1, keepdim=True).to(x), shape, kind)


def of_axes(r, shape, kind):
    axis, place = r.randrange(len(shape)), r.randint(0, len(shape))
    position = r.randrange(shape[axis])
    if len(shape) > 1:
        yield Step(f"cn::select<{axis}>(x, {position})", lambda x: x.select(axis + 1, position),
                   shape[:axis] + shape[axis + 1:], kind)
        if shape[axis] == 1:
            yield Step(f"cn::squeeze<{axis}>(x)", lambda x: x.squeeze(axis + 1), shape[:axis] + shape[axis + 1:], kind)
    yield Step(f"cn::expand_dims<{place}>(x)", lambda x: x.unsqueeze(place + 1), (*shape[:place], 1, *shape[place:]),
               kind)
    yield Step(f"cn::stack<{place}>(x, x * x, cn::tanh(x))",
               lambda x: torch.stack([x, x * x, torch.tanh(x)], place + 1), (*shape[:place], 3, *shape[place:]), kind)
    extents = factors(r, math.prod(shape))
    yield Step(f"x | cn::reshape_to<cn::row_major_shape<{numbers(extents)}>>",
               lambda x: x.reshape(x.shape[0], *extents), extents, kind)
    if len(shape) == 3:
        yield Step(f"x | cn::reshape<{numbers(shape)}>", lambda x: x, shape, "image")
    if len(shape) == 4:
        yield Step(f"x | cn::reshape_to<cn::volume<{numbers(shape)}>>", lambda x: x, shape, "volume")


def products(r, shape, kind):
    if len(shape) == 1:
        yield Step("cn::outer(x, cn::sin(x))", lambda x: x.unsqueeze(2) * torch.sin(x).unsqueeze(1), shape * 2, kind)
    else:
        turned = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
        yield Step(f"cn::matmul(x, cn::permute<{numbers(turned)}>(x))", lambda x: x @ x.transpose(-1, -2),
                   (*shape[:-1], shape[-2]), kind)
    if len(shape) == 2:
        yield Step("cn::diagonal(x)", lambda x: torch.diagonal(x, dim1=1, dim2=2), (min(shape),), kind)


def sums_of_products(r, shape, kind):
    names = "ijklm"[:len(shape)]
    others = "".join(r.choice([a, a.upper()]) for a in names)
    extents = dict(zip(names + others, shape * 2))

    def some(letters):
        letters = sorted(letters)
        return "".join(r.sample(letters, r.randint(1, len(letters))))
    one, two = some(names), some({*names, *others})
    yield Step(f'0.3 * cn::einsum<"{names}->{one}">(x)', lambda x: 0.3 * torch.einsum(f"b{names}->b{one}", x),
               tuple(extents[a] for a in one), kind)
    yield Step(f'0.3 * cn::einsum<"{names},{others}->{two}">(x, cn::cos(x))',
               lambda x: 0.3 * torch.einsum(f"z{names},z{others}->z{two}", x, torch.cos(x)),
               tuple(extents[a] for a in two), kind)
    if len(shape) == 2 and shape[0] == shape[1]:
        yield Step('cn::einsum<"ii->i">(x)', lambda x: torch.einsum("bii->bi", x), shape[:1], kind)


def of_images(r, shape, kind):
    weights = f"x | cn::global_avg_pool{len(shape) - 1}d | cn::reshape<{shape[0]}>"
    alone = "shape" if kind == "image" else "volume"
    yield Step(f"x * ({weights} | cn::reshape_to<cn::{alone}<{shape[0]}{', 1' * (len(shape) - 1)}>>)",
               lambda x: x * x.flatten(2).mean(2).reshape(*x.shape[:2], *([1] * (len(shape) - 1))), shape, kind)
    rows = (shape[0], math.prod(shape[1:]))
    yield Step(f"x | cn::reshape_to<cn::row_major_shape<{numbers(rows)}>>", lambda x: x.flatten(2), rows, "rows")


def factors(r, count):
    """Extents of one to five axes with so many elements."""
    extents = []
    for _ in range(r.randint(0, MOST_AXES - 1)):
        extents.append(r.choice([d for d in range(1, min(count, 13) + 1) if count % d == 0]))
        count //= extents[-1]
    extents.append(count)
    r.shuffle(extents)
    return tuple(extents)


FAMILIES = {"rows": [along_axis, of_elements, reductions, of_axes, products, sums_of_products],
            "image": [along_axis, of_elements, of_images], "volume": [along_axis, of_elements, of_images]}


def next_step(r, shape, kind):
    while True:
        steps = [step for step in r.choice(FAMILIES[kind])(r, shape, kind)
                 if math.prod(step.shape) <= MOST_ELEMENTS and len(step.shape) <= MOST_AXES]
        if steps:
            return r.choice(steps)


class FunctionNetwork(compare.Network):
    def __init__(self, seed):
        r = random.Random(seed)
        torch.manual_seed(seed)
        kind = r.choice(["rows", "rows", "rows", "image", "volume"])
        if kind == "rows":
            count = r.choice([6, 12, 24, 30])
            shape = factors(r, count)
            self.input = (r.choice([2, 5]),)
            first = Layer(f"dense<{count}>", nn.Linear(self.input[0], count), (count,))
            seen = Step(f"x | cn::reshape_to<cn::row_major_shape<{numbers(shape)}>>", lambda x: x.unflatten(1, shape),
                        shape, kind)
        else:
            axes = 2 if kind == "image" else 3
            self.input = (2, *(r.randint(1, 4) for _ in range(axes)))
            channels = r.choice([1, 3, 4])
            first = Layer(f"conv{axes}d<{channels}, 1>", (nn.Conv2d if axes == 2 else nn.Conv3d)(2, channels, 1),
                          (channels, *self.input[1:]))
            seen = Step("x", lambda x: x, first.shape, kind)
        steps = [seen]
        for _ in range(r.randint(2, 6)):
            steps.append(next_step(r, steps[-1].shape, steps[-1].kind))

        def apply(x):
            for step in steps:
                x = step.torch(x)
            return x.flatten(1)
        lines = "".join(f"        auto const x{i + 1} = [](auto x) {{ return {step.castnet}; }}(x{i});\n"
                        for i, step in enumerate(steps))
        self.definitions = (f"struct random_function {{\n    constexpr auto operator()(auto x0) const {{\n{lines}"
                            f"        return x{len(steps)} | cn::flatten;\n    }}\n}};\n")
        count = math.prod(steps[-1].shape)
        layers = [first, Layer("random_function{}", Function(apply), (count,)), Layer("dense<3>", nn.Linear(count, 3), (3,))]
        self.layers, self.steps = [layer.castnet for layer in layers], [step.castnet for step in steps[1:]]
        self.output, self.batch = (3,), r.choice([1, 2, 3, 9])
        self.torch = nn.Sequential(*(layer.torch for layer in layers))
        self.x, self.y = torch.randn(self.batch, *self.input), torch.randn(self.batch, 3)

    def __str__(self):
        return f"{self.input}, batch {self.batch}: {self.layers[0]}, {'; '.join(self.steps)}"


if __name__ == "__main__":
    compare.run_all(compare.options(__doc__, "random_functions").parse_args(), FunctionNetwork, ["double"])
