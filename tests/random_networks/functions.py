#!/usr/bin/env python3
"""Compares random functions of symbols with PyTorch: predictions and a step of gradient descent.

    tests/random_networks/functions.py 0 40          # seeds 0 to 39
    tests/random_networks/functions.py 0 40 --wide   # of more elements than tiles of kernels have

Each is a chain of functions of an image, a volume, or a tensor of one to five axes, between two layers, and most read
the values of another chain, of parameters. Some also have the gradients of their sum, by their input and a parameter,
which are differentiated again. Each is compiled in double, and computes on 1, 2 and 3 threads with the same bits. Needs
what compare.py needs.
"""

import copy
import math
import random
from collections import namedtuple

import torch
from torch import nn
from torch.nn import functional as F

import compare
from compare import Function, Layer

# A function of x as castnet and PyTorch spell it, with the shape of its result and whether that is "rows" (row-major),
# an "image" or a "volume". Axes are counted from the one after the batch.
Step = namedtuple("Step", "castnet torch shape kind")

# Elements of tensors, those of the first ones and of parameters, the extents of products and of axes.
Sizes = namedtuple("Sizes", "most counts widths extents")
SMALL = Sizes(most=600, counts=[6, 12, 24, 30], widths=[1, 2, 3, 7], extents=13)
WIDE = Sizes(most=20000, counts=[66, 390, 1105, 1386, 2145], widths=[1, 17, 33, 40, 65], extents=70)
sizes = SMALL  # of this process
MOST_AXES = 5


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
    stride = r.choice([1, 1, 2, 3])
    chosen = range(begin, end, stride)
    yield Step(f"cn::slice<{axis}, {begin}, {end}{f', {stride}' if stride > 1 else ''}>(x)",
               lambda x: x.index_select(dim, torch.tensor(chosen)), with_extent(shape, axis, len(chosen)), kind)
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


ELEMENT_FUNCTIONS = [
    ("cn::expm1(0.3 * x)", lambda x: torch.expm1(0.3 * x)),
    ("cn::cbrt(x * x + 0.1)", lambda x: (x * x + 0.1) ** (1 / 3)),
    ("cn::log1p(cn::abs(x))", lambda x: torch.log1p(x.abs())),
    ("cn::rsqrt(1 + x * x)", lambda x: torch.rsqrt(1 + x * x)),
    ("cn::atan2(x, 0.5 - x)", lambda x: torch.atan2(x, 0.5 - x)),
    ("cn::hypot(x, 0.2)", lambda x: (x * x + 0.04).sqrt()),
    ("cn::logaddexp(x, -2 * x)", lambda x: torch.logaddexp(x, -2 * x)),
    ("cn::pow(cn::abs(x) + 0.1, 1.3)", lambda x: (x.abs() + 0.1) ** 1.3),
    ("cn::clip(x, -0.4, 0.7)", lambda x: x.clamp(-0.4, 0.7)),
    ("cn::lerp(x, cn::cos(x), 0.3)", lambda x: torch.lerp(x, x.cos(), 0.3)),
    ("cn::multiply_add(x, x, 0.5)", lambda x: x * x + 0.5),
    ("x * cn::stop_gradient(cn::tanh(x))", lambda x: x * x.tanh().detach()),
    ("cn::fmod(x, 0.7)", lambda x: torch.fmod(x, 0.7)),
    ("x - cn::round(x)", lambda x: x - x.round()),
    ("cn::atanh(0.9 * cn::tanh(x))", lambda x: torch.atanh(0.9 * x.tanh())),
    ("cn::erf(x)", torch.erf), ("cn::asinh(x)", torch.asinh), ("cn::mish(x)", F.mish), ("cn::gelu(x)", F.gelu),
    ("cn::softsign(x)", F.softsign), ("cn::hard_silu(x)", F.hardswish)]


def of_elements(r, shape, kind):
    text, function = r.choice(ELEMENT_FUNCTIONS)
    yield Step(text, function, shape, kind)
    yield Step("cn::sin(x) * x + 0.5", lambda x: torch.sin(x) * x + 0.5, shape, kind)
    yield Step("cn::where(x > 0.1, x, cn::exp(x * 0.3))", lambda x: torch.where(x > 0.1, x, torch.exp(x * 0.3)), shape,
               kind)
    yield Step("cn::maximum(x, 0.25 - x)", lambda x: torch.maximum(x, 0.25 - x), shape, kind)
    yield Step("cn::square(x - cn::mean(x))", lambda x: (x - x.mean(tuple(range(1, x.dim())), keepdim=True)) ** 2, shape,
               kind)
    channels = len(shape) if kind == "rows" else 1
    yield Step("x | cn::softmax", lambda x: torch.softmax(x, channels), shape, kind)
    axis = r.randrange(len(shape))
    log = r.choice(["", "log_"])
    yield Step(f"x | cn::{log}softmax.along<{axis}>", lambda x: getattr(torch, f"{log}softmax")(x, axis + 1), shape,
               kind)
    axes = r.sample(range(len(shape)), len(shape))
    yield Step(f"cn::permute<{numbers(axes)}>(x)", lambda x: x.permute(0, *(a + 1 for a in axes)),
               tuple(shape[a] for a in axes), kind)


def root(x):
    """The gradient of which is 0 where x is."""
    return torch.where(x == 0, 0, torch.where(x == 0, 1, x).sqrt())


REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin,
              "norm": lambda x, dims, keepdim: root((x * x).sum(dims, keepdim=keepdim)),
              "variance": lambda x, dims, keepdim: x.var(dims, unbiased=False, keepdim=keepdim),
              "standard_deviation": lambda x, dims, keepdim: root(x.var(dims, unbiased=False, keepdim=keepdim)),
              "logsumexp": torch.logsumexp}


def reductions(r, shape, kind):
    axes = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))
    dims = tuple(a + 1 for a in axes)
    kept = tuple(extent for a, extent in enumerate(shape) if a not in axes)
    ones = tuple(1 if a in axes else extent for a, extent in enumerate(shape))
    name = r.choice(list(REDUCTIONS))
    reduce = REDUCTIONS[name]
    rows = kind == "rows"
    if kept and rows:
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
    if kept and rows:
        yield Step(f"{multiplied})", lambda x: product(x, False), kept, kind)
    yield Step(f"{multiplied}, cn::keepdims)", lambda x: product(x, True), ones, kind)
    axis = axes[0]
    yield Step(f"x + 0.01 * cn::argmax<{axis}>(x, cn::keepdims)",
               lambda x: x + 0.01 * x.argmax(axis + 1, keepdim=True).to(x), shape, kind)
    if rows:
        count = r.randint(1, shape[-1])
        yield Step(f"[&] {{ auto const [v, i] = cn::largest<{count}>(x); return v + 0.1 * i; }}()",
                   lambda x: x.topk(count).values + 0.1 * x.topk(count).indices.to(x), (*shape[:-1], count), kind)
        yield Step("0.1 * cn::cumsum(x)", lambda x: 0.1 * x.cumsum(-1), shape, kind)


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
    times = r.choices([1, 2, 3], k=len(shape))
    yield Step(f"cn::repeat_interleave<{axis}, {times[axis]}>(x)",
               lambda x: x.repeat_interleave(times[axis], axis + 1),
               with_extent(shape, axis, times[axis] * shape[axis]), kind)
    yield Step(f"cn::tile<{numbers(times)}>(x)", lambda x: x.tile(1, *times),
               tuple(n * extent for n, extent in zip(times, shape)), kind)
    repeated = (r.choice([2, 3]), *(r.choice([2, 5]) if extent == 1 else extent for extent in shape))
    yield Step(f"x | cn::reshape_to<cn::row_major_shape<1, {numbers(shape)}>> | "
               f"[](auto one) {{ return cn::broadcast_to<{numbers(repeated)}>(one); }}",
               lambda x: x.unsqueeze(1).expand(-1, *repeated), repeated, kind)
    if len(shape) == 1:
        yield Step("cn::diag(x)", torch.diag_embed, shape * 2, kind)
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


def joins(r, shape, kind):
    """Functions of x and of a tensor p: the shape of p, and the step."""
    axis = r.randrange(len(shape))
    wide = tuple(r.choice([1, extent, extent]) for extent in shape)
    yield wide, Step("x * p", lambda x, p: x * p, shape, kind)
    yield wide, Step("(x - p) / (1 + cn::square(p))", lambda x, p: (x - p) / (1 + p * p), shape, kind)
    yield wide, Step("cn::where(p > 0, x, p)", lambda x, p: torch.where(p > 0, x, p.expand(x.shape)), shape, kind)
    more = r.randint(1, 3)
    yield with_extent(shape, axis, more), Step(
        f"cn::concatenate<{axis}>(x, p)", lambda x, p: torch.cat([x, p], axis + 1),
        with_extent(shape, axis, shape[axis] + more), kind)
    if kind != "rows":
        return
    place = r.randint(0, len(shape))
    yield shape, Step(f"cn::stack<{place}>(p, x)", lambda x, p: torch.stack([p, x], place + 1),
                      (*shape[:place], 2, *shape[place:]), kind)
    width = r.choice(sizes.widths)
    if len(shape) == 1:
        def of_vector(axes):
            return lambda x, p: torch.einsum(axes, x, p)
        yield (width, *shape), Step("cn::times_rows(x, p)", of_vector("bi,bji->bj"), (width,), kind)
        yield (*shape, width), Step("cn::matmul(x, p)", of_vector("bi,bij->bj"), (width,), kind)
        yield (width,), Step("cn::outer(x, p)", of_vector("bi,bj->bij"), (*shape, width), kind)
    else:
        *outer, rows, columns = shape
        yield (*outer, columns, width), Step("cn::matmul(x, p)", lambda x, p: x @ p, (*outer, rows, width), kind)
        yield (*outer, width, rows), Step("cn::matmul(p, x)", lambda x, p: p @ x, (*outer, width, columns), kind)
        yield (*outer, width, columns), Step("cn::matmul_transposed(x, p)", lambda x, p: x @ p.mT,
                                             (*outer, rows, width), kind)
        yield (columns, width), Step(f'cn::einsum<"{"abc"[:len(outer)]}ij,jk->k{"abc"[:len(outer)]}i">(x, p)',
                                     lambda x, p: torch.einsum("z...ij,zjk->zk...i", x, p), (width, *outer, rows), kind)


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
        extents.append(r.choice([d for d in range(1, min(count, sizes.extents) + 1) if count % d == 0]))
        count //= extents[-1]
    extents.append(count)
    r.shuffle(extents)
    return tuple(extents)


FAMILIES = {"rows": [along_axis, of_elements, reductions, of_axes, products, sums_of_products],
            "image": [along_axis, of_elements, reductions, of_images],
            "volume": [along_axis, of_elements, reductions, of_images]}
SHAPES = {"rows": "row_major_shape", "image": "shape", "volume": "volume"}


def is_small(step):
    return math.prod(step.shape) <= sizes.most and len(step.shape) <= MOST_AXES


def next_step(r, shape, kind):
    while True:
        steps = list(filter(is_small, r.choice(FAMILIES[kind])(r, shape, kind)))
        if steps:
            return r.choice(steps)


def fitted(r, shape, wanted, kind):
    """A step from a tensor of parameters to one of this shape and kind: some of its elements."""
    have, want = math.prod(shape), math.prod(wanted)
    begin = r.randrange(have)
    ids = [(begin + i) % have for i in range(want)]
    if want > 600:  # which a compiler would have to read
        times = -(-(begin + want) // have)
        text = (f"cn::slice<0, {begin}, {begin + want}>(cn::tile<{times}>(x | cn::reshape_to<cn::shape<{have}>>)) | "
                f"cn::reshape_to<cn::{SHAPES[kind]}<{numbers(wanted)}>>")
        return Step(text, lambda x: x.flatten(1)[:, list(ids)].reshape(-1, *wanted), wanted, kind)
    if want <= 12 and r.random() < 0.5:
        ids = [r.randrange(have) for _ in ids]
    text = f"x | cn::reshape_to<cn::shape<{have}>>"
    if have != want:
        text = f"cn::take<0>({text}, std::array{{{numbers(ids)}}})"
    else:
        ids = range(have)
    return Step(f"{text} | cn::reshape_to<cn::{SHAPES[kind]}<{numbers(wanted)}>>",
                lambda x: x.flatten(1)[:, list(ids)].reshape(-1, *wanted), wanted, kind)


class Functions(nn.Module):
    """Two chains, of a tensor x of samples and of a tensor p of parameters, as castnet and PyTorch spell them."""

    def __init__(self, r, first):
        super().__init__()
        self.r, self.count, self.parameters, self.lines, self.computed = r, 0, [], [], []
        self.has_gradients = False
        self.numbers, self.shapes, self.kinds = {"x": 0}, {}, {}
        self.then("x", first)
        if r.random() < 0.7:
            self.add_parameter("p")
        for _ in range(r.randint(2, 6)):
            chosen = r.random()
            if self.count and chosen < 0.2:
                self.join("x", "p")
            elif self.count and chosen < 0.3:
                self.add_parameter("q")
                self.join("p", "q")
            else:
                name = r.choice(["x", "p"]) if self.count else "x"
                self.then(name, next_step(r, self.shapes[name], self.kinds[name]))
        if self.count:
            self.join("x", "p")

    def add_parameter(self, name):
        shape = factors(self.r, self.r.choice(sizes.counts))
        self.shapes[name], self.kinds[name] = shape, "rows"
        self.numbers[name] = self.numbers.get(name, -1) + 1
        number, self.count = self.count, self.count + 1
        self.register_parameter(f"p{number}", nn.Parameter(torch.zeros(shape)))
        self.parameters.append(f"auto const {name}{self.numbers[name]} = "
                               f"cn::new_parameter<cn::row_major_shape<{numbers(shape)}>>"
                               f'(*x0.g, "p{number}", {{.start = cn::random_normal(1)}});')

        def add(of, at):
            at[name] = getattr(of, f"p{number}").expand(len(at["x"]), *shape)
            if number == 0:
                at["by"].append(at[name])
        self.computed.append(add)

    def then(self, name, step, *others):
        """The next value of a chain, of that and the values of others."""
        names = [name, *others]
        now = [f"{n}{self.numbers[n]}" for n in names]
        self.numbers[name] += 1
        self.lines.append(f"auto const {name}{self.numbers[name]} = []({', '.join(['auto x', 'auto q'][:len(names)])}) "
                          f"{{ return {step.castnet}; }}({', '.join(now)});")
        self.shapes[name], self.kinds[name] = step.shape, step.kind

        def compute(_, at):
            values = [at[n] for n in names]
            samples = max(map(len, values))
            at[name] = step.torch(*(v.expand(samples, *v.shape[1:]) for v in values))
        self.computed.append(compute)

    def join(self, name, other):
        """The next value of a chain, of that and the last one of another."""
        shape, step = self.r.choice([(shape, step) for shape, step in joins(self.r, self.shapes[name], self.kinds[name])
                                     if is_small(step)])
        fit = fitted(self.r, self.shapes[other], shape, self.kinds[name])
        text = f"[](auto x, auto p) {{ return {step.castnet}; }}(x, [](auto x) {{ return {fit.castnet}; }}(q))"
        self.then(name, Step(text, lambda x, q: step.torch(x, fit.torch(q)), step.shape, step.kind), other)

    def definition(self):
        parameters, lines = ("".join(f"        {line}\n" for line in lines) for lines in (self.parameters, self.lines))
        by = ["x0", "p0"][:1 + (self.count > 0)]
        arguments = ", ".join(f"auto {name}" for name in by)
        gradients = (f"        auto const slopes = cn::grad<{numbers(range(len(by)))}>(\n"
                     f"            [&]({arguments}) {{ return cn::sum(chain({numbers(by)})); }}, {numbers(by)});\n"
                     f"        return cn::concat(y, {'std::get<0>(slopes)' if len(by) > 1 else 'slopes'} | cn::flatten"
                     f"{', std::get<1>(slopes) | cn::flatten' if len(by) > 1 else ''});\n")
        return (f"struct random_function {{\n    constexpr auto operator()(auto x0) const {{\n"
                f'        cn::scope_guard const scope{{*x0.g, cn::layer_kind{{"functions"}}}};\n{parameters}'
                f"        auto const chain = [=]({arguments}) {{\n{lines}"
                f"        return x{self.numbers['x']} | cn::flatten;\n        }};\n"
                f"        auto const y = chain({numbers(by)});\n"
                f"{gradients if self.has_gradients else '        return y;' + chr(10)}    }}\n}};\n")

    def size(self):
        """Elements of the result."""
        sizes = [self.first_size] + ([self.p0.numel()] if self.count else [])
        return math.prod(self.shapes["x"]) + (sum(sizes) if self.has_gradients else 0)

    def forward(self, x):
        at = {"x": x, "by": [x]}
        for compute in self.computed:
            compute(self, at)
        y = at["x"].flatten(1)
        if not self.has_gradients:
            return y
        slopes = torch.autograd.grad(y.sum(), at["by"], create_graph=True, materialize_grads=True)
        return torch.cat([y, *(slope.flatten(1) for slope in slopes)], 1)


class FunctionNetwork(compare.Network):
    def __init__(self, seed):
        r = random.Random(seed)
        torch.manual_seed(seed)
        kind = r.choice(["rows", "rows", "rows", "image", "volume"])
        if kind == "rows":
            count = r.choice(sizes.counts)
            shape = factors(r, count)
            self.input = (r.choice([2, 5]),)
            first = Layer(f"dense<{count}>", nn.Linear(self.input[0], count), (count,))
            seen = Step(f"x | cn::reshape_to<cn::row_major_shape<{numbers(shape)}>>", lambda x: x.unflatten(1, shape),
                        shape, kind)
        else:
            axes = 2 if kind == "image" else 3
            self.input = (2, *(r.randint(1, 4 if sizes is SMALL else 7) for _ in range(axes)))
            channels = r.choice([1, 3, 4] if sizes is SMALL else [17, 24, 33])
            first = Layer(f"conv{axes}d<{channels}, 1>", (nn.Conv2d if axes == 2 else nn.Conv3d)(2, channels, 1),
                          (channels, *self.input[1:]))
            seen = Step("x", lambda x: x, first.shape, kind)
        functions = Functions(r, seen)
        kind = r.choice(["", "repeated", "repeated", "replicas", "devices", "gradients", "gradients"])
        functions.has_gradients, functions.first_size = kind == "gradients", math.prod(first.shape)
        count, self.note = functions.size(), ' with gradients' * functions.has_gradients
        self.definitions, self.steps = functions.definition(), functions.parameters + functions.lines[1:]
        layers = [first, Layer("random_function{}", functions, (count,)), Layer("dense<3>", nn.Linear(count, 3), (3,))]
        self.output, self.batch = (3,), r.choice([1, 2, 3, 9])
        if kind == "repeated" and functions.count and len(self.input) == 1:
            back = Layer(f"dense<{self.input[0]}>, tanh", nn.Sequential(nn.Linear(count, self.input[0]), nn.Tanh()),
                         None)
            block = [first, layers[1], back]
            again = copy.deepcopy([layer.torch for layer in block])
            layers = [Layer(f"repeat<2, block<{', '.join(layer.castnet for layer in block)}>>",
                            nn.Sequential(*(layer.torch for layer in block), *again), self.input),
                      Layer("dense<3>", nn.Linear(self.input[0], 3), (3,))]
        elif kind == "replicas":
            self.policy, self.capacity = "cn::policy::mirrored<{}, 2>", (self.batch + 1) // 2
        elif kind == "devices":
            self.policy = "cn::policy::model_parallel<{}, 2>"
            layers[1] = layers[1]._replace(castnet="on<1, random_function{}>")
        self.layers = [layer.castnet for layer in layers]
        self.torch = nn.Sequential(*(layer.torch for layer in layers))
        self.x, self.y = torch.randn(self.batch, *self.input), torch.randn(self.batch, 3)

    def __str__(self):
        return (f"{self.input}, batch {self.batch}, {self.policy}: {', '.join(self.layers)}"
                f"{self.note}: {' '.join(self.steps)}").replace(
                    "auto const ", "")


def main():
    global sizes
    given = compare.options(__doc__, "random_functions").parse_args()
    sizes = WIDE if given.wide else SMALL
    compare.run_all(given, FunctionNetwork, ["double"])


if __name__ == "__main__":
    main()
