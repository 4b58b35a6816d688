"""Layers of random networks that multiply by parameters: transposed, shared, for each head, in loops over time."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Products(nn.Module):
    """Parameters a, b, … of these shapes, and a function of them and x."""

    def __init__(self, shapes, function):
        super().__init__()
        for name, shape in zip("abc", shapes):
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))
        self.function = function

    def forward(self, x):
        return self.function(x, *self.parameters())


def layer(shapes, text, function):
    """castnet's text and PyTorch's module; parameters are about so large that a product keeps the size of x."""
    lines = "".join(
        f'auto const {name} = cn::new_parameter<cn::row_major_shape<{", ".join(map(str, shape))}>>(*x.g, "{name}", '
        f'{{.start = cn::random_uniform({1.7 / math.sqrt(shape[-1]):.3f})}}); ' for name, shape in zip("abc", shapes))
    return (f'[](auto x) {{ cn::scope_guard const scope{{*x.g, cn::layer_kind{{"products"}}}}; {lines}{text} }}',
            Products(shapes, function))


def loop(x, state, cell):
    """The outputs of all steps."""
    outputs = []
    for x_t in x.unbind(1):
        state = cell(x_t, state)
        outputs.append(state)
    return torch.stack(outputs, 1)


def zeros(x, units):
    return x.new_zeros(len(x), units)


def of_sequence(r, shape, units):
    """castnet's text, PyTorch's module and the shape of the result."""
    t, f = shape
    u, v = units(), units()
    heads = r.choice([h for h in (1, 2, 3, 4, 5, 8) if f % h == 0])
    d = f // heads
    columns = f"cn::row_major_shape<{t}, {heads}, {d}>"
    of_heads = f"cn::permute<1, 0, 2>(x | cn::reshape_to<{columns}>)"
    def by_head(x):
        return x.unflatten(2, (heads, d)).transpose(1, 2)
    def joined(y):
        return y.transpose(1, 2).flatten(2)
    def join(count):
        return f"cn::permute<1, 0, 2>(y) | cn::reshape_to<cn::shape<{t}, {count}>>"
    row = f"x | cn::reshape_to<cn::row_major_shape<{t}, 1, {f}>>"
    def scan(width, cell):
        return f"return cn::scan(y, cn::shape<{width}>{{}}, [=](auto x, auto h) {{ return {cell}; }}).outputs;"
    return r.choice([
        ([(f, u)], "return cn::matmul(x, a);", lambda x, a: x @ a, (t, u)),
        ([(u, f)], "return cn::matmul_transposed(x, a);", lambda x, a: x @ a.mT, (t, u)),
        ([(u, f)], "return cn::matmul(x, cn::permute<1, 0>(a));", lambda x, a: x @ a.mT, (t, u)),
        ([(f, u)], "return cn::matmul(x, cn::tanh(a));", lambda x, a: x @ a.tanh(), (t, u)),
        ([(u, f), (f,)], "return cn::matmul_transposed(x, a * b);", lambda x, a, b: x @ (a * b).mT, (t, u)),
        ([(f, u), (u,)], "return cn::matmul(x, cn::sin(a) * b);", lambda x, a, b: x @ (a.sin() * b), (t, u)),
        ([(f, v), (v, u)], "return cn::matmul(x, cn::matmul(a, b));", lambda x, a, b: x @ (a @ b), (t, u)),
        ([(f, v), (u, v)], "return cn::matmul_transposed(cn::matmul(x, a), b);", lambda x, a, b: x @ a @ b.mT, (t, u)),
        ([(f, u)], "return cn::matmul_transposed(cn::tanh(cn::matmul(x, a)), a);",
         lambda x, a: (x @ a).tanh() @ a.mT, shape),
        ([(u, f), (u,)], "return cn::matmul(cn::relu(cn::matmul_transposed(x, a) + b), a);",
         lambda x, a, b: F.relu(x @ a.mT + b) @ a, shape),
        ([(f, u)], "return cn::matmul(x, a) * cn::matmul(cn::sin(x), a);", lambda x, a: (x @ a) * (x.sin() @ a), (t, u)),
        ([(t, f)], "return cn::matmul(cn::matmul_transposed(x, a), x * a);", lambda x, a: (x @ a.mT) @ (x * a), shape),
        ([(t, f)], "return cn::matmul(cn::matmul_transposed(x * a, x), a);", lambda x, a: ((x * a) @ x.mT) @ a, shape),
        ([(f, f)], "return cn::matmul(x, a) + cn::matmul_transposed(x, a) * cn::mean<0>(a);",
         lambda x, a: x @ a + (x @ a.mT) * a.mean(0), shape),
        ([(u, t)], "return cn::matmul(a, x);", lambda x, a: a @ x, (u, f)),
        ([(f + v, u)], f"return cn::matmul(x, cn::slice<0, {v}, {f + v}>(a));", lambda x, a: x @ a[v:], (t, u)),
        ([(f, u + v)], f"return cn::matmul(x, cn::slice<1, {v}, {u + v}>(a));", lambda x, a: x @ a[:, v:], (t, u)),
        ([(heads, d, u)], f"auto const y = cn::matmul({of_heads}, a); return {join(heads * u)};",
         lambda x, a: joined(by_head(x) @ a), (t, heads * u)),
        ([(heads, u, d)], f"auto const y = cn::matmul_transposed({of_heads}, cn::tanh(a)); return {join(heads * u)};",
         lambda x, a: joined(by_head(x) @ a.tanh().mT), (t, heads * u)),
        ([(t, f, u)], f"return cn::matmul({row}, a) | cn::reshape_to<cn::shape<{t}, {u}>>;",
         lambda x, a: (x.unsqueeze(2) @ a).squeeze(2), (t, u)) if t * f * u < 2e5 else None,
        ([(t, u, f)], f"return cn::matmul_transposed({row}, a) | cn::reshape_to<cn::shape<{t}, {u}>>;",
         lambda x, a: (x.unsqueeze(2) @ a.mT).squeeze(2), (t, u)) if t * f * u < 2e5 else None,
        ([(f, u)], 'return cn::einsum<"tf,fu->ut">(x, a) | cn::permute<1, 0>;', lambda x, a: x @ a, (t, u)),
        ([(u, f)], f"return cn::attention<{heads}>(a, x, x) ;",
         lambda x, a: joined(F.scaled_dot_product_attention(by_head(a[None]).expand(len(x), -1, -1, -1), by_head(x),
                                                            by_head(x))), (u, f)),
        ([(u, f), (u, f)], f"return cn::attention<{heads}>(x, a, b);",
         lambda x, a, b: joined(F.scaled_dot_product_attention(
             by_head(x), *(by_head(p[None]).expand(len(x), -1, -1, -1) for p in (a, b)))), shape),
        ([(f, u), (u, u)], f"auto const y = cn::matmul(x, a); {scan(u, 'cn::tanh(x + cn::matmul(h, b))')}",
         lambda x, a, b: loop(x @ a, zeros(x, u), lambda x, h: (x + h @ b).tanh()), (t, u)),
        ([(u, f)], "auto const y = cn::matmul_transposed(x, a); "
         + scan(u, "cn::tanh(x + cn::matmul(a, cn::sin(cn::matmul(h, a))))"),
         lambda x, a: loop(x @ a.mT, zeros(x, u), lambda x, h: (x + (h @ a).sin() @ a.mT).tanh()), (t, u)),
        ([(f, v), (v, f)], "auto const y = x; "
         + scan(f, "cn::tanh(x + cn::matmul(cn::matmul(h, cn::tanh(a)), b * 0.5))"),
         lambda x, a, b: loop(x, zeros(x, f), lambda x, h: (x + h @ a.tanh() @ (b * 0.5)).tanh()), shape),
        ([(f, v), (f, v), (v,)], "auto const y = x; "
         + scan(f, "cn::tanh(x + cn::matmul(a, cn::matmul(h, a * b) + c) * 0.5)"),
         lambda x, a, b, c: loop(x, zeros(x, f), lambda x, h: (x + (h @ (a * b) + c) @ a.mT * 0.5).tanh()), shape),
    ])


def of_vector(r, shape, units):
    f, = shape
    u, v = units(), units()
    heads = r.choice([h for h in (1, 2, 3, 4, 5, 8) if f % h == 0])
    d = f // heads
    rows = f"x | cn::reshape_to<cn::row_major_shape<{heads}, 1, {d}>>"
    return r.choice([
        ([(f, u)], "return cn::matmul(x, a);", lambda x, a: x @ a, (u,)),
        ([(u, f)], "return cn::matmul(a, x);", lambda x, a: x @ a.mT, (u,)),
        ([(u, f)], "return cn::matmul(x, cn::permute<1, 0>(a));", lambda x, a: x @ a.mT, (u,)),
        ([(f, u), (u,)], "return cn::matmul(x, cn::sin(a) * b);", lambda x, a, b: x @ (a.sin() * b), (u,)),
        ([(f, v), (v, u)], "return cn::matmul(x, cn::matmul(a, b));", lambda x, a, b: x @ (a @ b), (u,)),
        ([(f, u)], "return cn::matmul(a, cn::tanh(cn::matmul(x, a)));", lambda x, a: (x @ a).tanh() @ a.mT, shape),
        ([(u, f), (u,)], "return cn::matmul(cn::relu(cn::matmul(a, x) + b), a);",
         lambda x, a, b: F.relu(x @ a.mT + b) @ a, shape),
        ([(f, f)], "return cn::matmul(x, a) + cn::matmul(a, x) * cn::mean<0>(a);",
         lambda x, a: x @ a + (x @ a.mT) * a.mean(0), shape),
        ([(f, u + v)], f"return cn::matmul(x, cn::slice<1, {v}, {u + v}>(a));", lambda x, a: x @ a[:, v:], (u,)),
        ([(heads, d, u)], f"return cn::matmul({rows}, a) | cn::reshape<{heads * u}>;",
         lambda x, a: torch.einsum("bhd,hdu->bhu", x.unflatten(1, (heads, d)), a).flatten(1), (heads * u,)),
        ([(heads, u, d)], f"return cn::matmul_transposed({rows}, cn::tanh(a)) | cn::reshape<{heads * u}>;",
         lambda x, a: torch.einsum("bhd,hud->bhu", x.unflatten(1, (heads, d)), a.tanh()).flatten(1), (heads * u,)),
    ])


def products(r, shape, sizes):
    """castnet's text, PyTorch's module and the shape of the result."""
    def units():
        return r.choice(sizes.units)
    while True:
        chosen = (of_sequence if len(shape) == 2 else of_vector)(r, shape, units)
        if chosen and chosen[2]:
            shapes, text, function, result = chosen
            return (*layer(shapes, text, function), result)
