"""Element-wise functions: values and derivatives at 64 points, float64.

Every input is a float32 number, so that float tests see the same points.
"""

import torch
import torch.nn.functional as F

from .golden_file import GoldenFile

COUNT = 64


def real(largest):
    """0, the usual range of activations, and both signs of ever larger and smaller magnitudes."""
    magnitudes = torch.logspace(-5.5, torch.log10(torch.tensor(largest)).item(), 16)
    usual = torch.empty(COUNT - 33).uniform_(-6, 6)
    return torch.cat([torch.zeros(1), usual, magnitudes, -magnitudes])


def positive(exponent):
    return torch.logspace(-exponent, exponent, COUNT)


def above_minus_one():
    toward_minus_one = -1 + 2.0 ** -torch.arange(1, 25)
    small = -1 - toward_minus_one
    return torch.cat([torch.zeros(1), toward_minus_one, small, torch.logspace(-12, 30, 15)])


def normal():
    return 3 * torch.randn(COUNT)


# name: (function, inputs)
FUNCTIONS = {
    "add": (torch.add, lambda: (normal(), normal())),
    "subtract": (torch.subtract, lambda: (normal(), normal())),
    "multiply": (torch.multiply, lambda: (normal(), normal())),
    "divide": (torch.divide, lambda: (normal(), normal())),
    "multiply_add": (lambda a, b, c: a * b + c, lambda: (normal(), normal(), normal())),
    "lerp": (torch.lerp, lambda: (normal(), normal(), torch.rand(COUNT))),
    "minimum": (torch.minimum, lambda: (normal(), normal())),
    "maximum": (torch.maximum, lambda: (normal(), normal())),
    "pow": (torch.pow, lambda: (positive(3), normal())),
    "negate": (torch.negative, lambda: (real(1e18),)),
    "abs": (torch.abs, lambda: (real(1e18),)),
    "sign": (torch.sign, lambda: (real(1e18),)),
    "square": (torch.square, lambda: (real(1e18),)),
    "exp": (torch.exp, lambda: (real(700.0),)),
    "exp2": (torch.exp2, lambda: (real(900.0),)),
    "expm1": (torch.expm1, lambda: (real(700.0),)),
    "log": (torch.log, lambda: (positive(30),)),
    "log1p": (torch.log1p, lambda: (above_minus_one(),)),
    "log2": (torch.log2, lambda: (positive(30),)),
    "log10": (torch.log10, lambda: (positive(30),)),
    "xlogy": (torch.xlogy, lambda: (normal(), positive(3))),
    "sqrt": (torch.sqrt, lambda: (positive(30),)),
    "rsqrt": (torch.rsqrt, lambda: (positive(20),)),
    "hypot": (torch.hypot, lambda: (normal(), normal())),
    "sin": (torch.sin, lambda: (real(1e4),)),
    "cos": (torch.cos, lambda: (real(1e4),)),
    "tan": (torch.tan, lambda: (real(1e4),)),
    "asin": (torch.asin, lambda: (2 * torch.rand(COUNT) - 1,)),
    "acos": (torch.acos, lambda: (2 * torch.rand(COUNT) - 1,)),
    "atan": (torch.atan, lambda: (real(1e18),)),
    "atan2": (torch.atan2, lambda: (normal(), normal())),
    "sinh": (torch.sinh, lambda: (real(80.0),)),
    "cosh": (torch.cosh, lambda: (real(80.0),)),
    "asinh": (torch.asinh, lambda: (real(1e18),)),
    "acosh": (torch.acosh, lambda: (1 + positive(6),)),
    "atanh": (torch.atanh, lambda: (2 * torch.rand(COUNT) - 1,)),
    "fmod": (torch.fmod, lambda: (normal(), normal())),
    "remainder": (torch.remainder, lambda: (normal(), normal())),
    "erf": (torch.erf, lambda: (real(30.0),)),
    "erfc": (torch.erfc, lambda: (real(30.0),)),
    "erfinv": (torch.erfinv, lambda: (2 * torch.rand(COUNT) - 1,)),
    "logit": (torch.logit, lambda: (torch.rand(COUNT),)),
    # (torch.digamma is less exact for negative numbers)
    "lgamma": (torch.lgamma, lambda: (positive(6),)),
    "logaddexp": (torch.logaddexp, lambda: (real(30.0), real(30.0))),
    "relu": (F.relu, lambda: (real(1e3),)),
    "relu6": (F.relu6, lambda: (real(1e3),)),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.01), lambda: (real(1e3),)),
    "elu": (F.elu, lambda: (real(1e3),)),
    "selu": (F.selu, lambda: (real(1e3),)),
    "gelu": (F.gelu, lambda: (real(1e3),)),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), lambda: (real(1e3),)),
    "sigmoid": (F.sigmoid, lambda: (real(1e3),)),
    "log_sigmoid": (F.logsigmoid, lambda: (real(1e3),)),
    "tanh": (torch.tanh, lambda: (real(1e3),)),
    # F.softplus cuts off log1p(exp(x)) at x = 20, an error of 2e-9; this form is exact.
    "softplus": (lambda x: -F.logsigmoid(-x), lambda: (real(1e3),)),
    "softsign": (F.softsign, lambda: (real(1e3),)),
    "silu": (F.silu, lambda: (real(1e3),)),
    "mish": (F.mish, lambda: (real(1e3),)),
    # The gradient of F.hardsigmoid multiplies by 1/6 rounded to float32, an error of 5e-9.
    "hard_sigmoid": (lambda x: F.relu6(x + 3) / 6, lambda: (real(1e3),)),
    "hard_tanh": (F.hardtanh, lambda: (real(1e3),)),
    "hard_silu": (F.hardswish, lambda: (real(1e3),)),
    "clip": (lambda x: torch.clamp(x, -1, 2), lambda: (real(1e3),)),
}

# Where the derivative jumps; kept apart, as there it is a convention and not a fact.
KINKS = {
    "abs": [(0,)],
    "sign": [(0,)],
    "minimum": [(1, 1)],
    "maximum": [(1, 1)],
    "relu": [(0,)],
    "relu6": [(0,), (6,)],
    "leaky_relu": [(0,)],
    "elu": [(0,)],
    "selu": [(0,)],
    "hard_sigmoid": [(-3,), (3,)],
    "hard_tanh": [(-1,), (1,)],
    "hard_silu": [(-3,), (3,)],
    "clip": [(-1,), (2,)],
}


def record(golden, case, function, inputs, prefix=""):
    inputs = [x.float().double().requires_grad_() for x in inputs]
    y = function(*inputs)
    gradients = torch.autograd.grad(y.sum(), inputs)
    golden.put(case, **{f"{prefix}y": y})
    for i, (x, gradient) in enumerate(zip(inputs, gradients)):
        suffix = "" if len(inputs) == 1 else str(i)
        golden.put(case, **{f"{prefix}x{suffix}": x, f"{prefix}grad{suffix}": gradient})


def generate():
    golden = GoldenFile()
    for case, (function, inputs) in FUNCTIONS.items():
        golden.begin(case)
        points = inputs()
        if case in KINKS and len(points) == 1:
            points[0][0] = 0.5  # instead of 0
            assert not torch.isin(torch.tensor(KINKS[case]), points[0]).any(), case
        record(golden, case, function, points)
        if case in KINKS:
            kinks = torch.tensor(KINKS[case], dtype=torch.float64)
            record(golden, case, function, kinks.unbind(1), prefix="kink_")

    golden.begin("pow_integer", "negative bases too; no gradient by the exponent")
    base = normal().float().double().requires_grad_()
    exponent = torch.tensor([-2.0, -1.0, 2.0, 3.0]).repeat(COUNT // 4)
    y = torch.pow(base, exponent)
    (gradient,) = torch.autograd.grad(y.sum(), base)
    golden.put("pow_integer", x0=base, x1=exponent, y=y, grad0=gradient)

    golden.begin("where", "x0 where condition is 1, x1 where it is 0")
    condition = torch.randint(0, 2, (COUNT,)).double()
    golden.put("where", condition=condition)
    record(golden, "where", lambda a, b: torch.where(condition == 1, a, b), (normal(), normal()))
    return golden
