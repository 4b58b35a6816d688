# Prints the numbers of systems.cpp that PyTorch makes: python3 systems_golden.py
import torch

torch.set_default_dtype(torch.float64)
numbers = torch.arange(18.0)


def show(name, values):
    print(name, [float(v) for v in values.reshape(-1)])


def gradients(f, *x):
    x = [torch.as_tensor(v).clone().requires_grad_() for v in x]
    return torch.autograd.grad(f(*x), x)


def likelihood(log_length, log_noise, x, y):
    """Minus the logarithm of a Gaussian process' marginal likelihood, but for a constant."""
    distance = (x[:, None] - x) * torch.exp(-log_length)
    covariance = torch.exp(-0.5 * distance**2) + torch.exp(log_noise) * torch.eye(6)
    factor = torch.linalg.cholesky(covariance)
    half = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
    return 0.5 * (half**2).sum() + torch.log(torch.diagonal(factor)).sum()


x = torch.cos(numbers[:6]) * 3
print("likelihood", float(likelihood(torch.tensor(0.2), torch.tensor(-1.0), x, torch.sin(x))))
for name, slope in zip(("by_log_length", "by_log_noise", "by_x", "by_y"),
                       gradients(likelihood, 0.2, -1.0, x, torch.sin(x))):
    show(name, slope)

matrices = torch.sin(numbers).reshape(2, 3, 3)
definite = matrices @ matrices.mT + torch.eye(3)
weights = torch.cos(numbers).reshape(2, 3, 3)
show("by_factor", gradients(lambda a: (torch.linalg.cholesky(a) * weights).sum(), definite)[0])
show("by_solved", gradients(lambda a: (torch.linalg.solve(a, weights)**2).sum(), definite)[0])
show("by_inverted", gradients(lambda a: (torch.linalg.inv(a) * weights).sum(), definite)[0])
show("by_determinants", gradients(lambda a: torch.exp(torch.linalg.det(a) / 4).sum(), definite)[0])
