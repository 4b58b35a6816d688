"""Writes keras.safetensors, what Keras computes, for tests/optim/keras.cpp and tests/nn/keras.cpp:

    pip install keras==3.15.1 jax==0.10.2 safetensors numpy
    python3 tests/data/keras_golden.py            # --check: writes nothing, says what differs
"""

import argparse
import json
import os
import pathlib
import zlib

os.environ |= {"KERAS_BACKEND": "jax", "JAX_ENABLE_X64": "1"}

import jax
import keras
import numpy as np
from keras import layers, losses, optimizers
from keras.optimizers import schedules
from safetensors.numpy import load_file, save_file

keras.config.set_floatx("float64")
keras.config.set_dtype_policy("float64")
PATH = pathlib.Path(__file__).with_name("keras.safetensors")
STEPS, PARAMETERS = 6, 20
tensors, notes = {}, {}


def tensor(array):
    """For JAX: Keras rounds arrays of NumPy to float32."""
    return jax.numpy.asarray(array, "float64")


def begin(case, note):
    """Random numbers of the case's own, so that a new case leaves those of the others."""
    notes[case] = note
    return np.random.default_rng(zlib.crc32(case.encode()))


def put(case, **arrays):
    for name, array in arrays.items():
        array = np.asarray(array)
        array = array.astype(np.int64 if array.dtype.kind == "i" else np.float64)
        tensors[f"{case}/{name}"] = np.ascontiguousarray(array.reshape(array.shape or (1,)))


OPTIMIZERS = {
    "sgd": optimizers.SGD(0.1),
    "sgd_momentum": optimizers.SGD(0.1, momentum=0.9),
    "sgd_nesterov": optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "rmsprop": optimizers.RMSprop(epsilon=1e-20),
    "rmsprop_momentum": optimizers.RMSprop(momentum=0.9, epsilon=1e-20),
    "rmsprop_centered": optimizers.RMSprop(centered=True, epsilon=1e-20),
    "adam": optimizers.Adam(epsilon=1e-20),
    "adamw": optimizers.AdamW(epsilon=1e-20),
    "amsgrad": optimizers.Adam(amsgrad=True, epsilon=1e-20),
    "nadam": optimizers.Nadam(),
    "lion": optimizers.Lion(),
    "adagrad": optimizers.Adagrad(initial_accumulator_value=0.0, epsilon=1e-20),
    "adadelta": optimizers.Adadelta(),
}


def put_optimizers():
    for name, optimizer in OPTIMIZERS.items():
        case = f"optimizers/{name}"
        random = begin(case, {k: v for k, v in optimizer.get_config().items()
                              if isinstance(v, (int, float, bool))})
        first, gradients = random.normal(size=PARAMETERS), random.normal(size=(STEPS, PARAMETERS))
        variable, steps = keras.Variable(first, dtype="float64"), []
        for gradient in gradients:
            optimizer.apply([gradient], [variable])
            steps.append(np.array(variable.value))
        put(case, parameter0=first, gradients=gradients, parameters=steps)


def put_whole(name, optimizer):
    """Steps of a dense layer's kernel and bias, whose gradient is the sum of the kernel's rows."""
    case = f"optimizers/{name}"
    random = begin(case, {k: v for k, v in optimizer.get_config().items()
                          if isinstance(v, (int, float, bool))})
    first = [random.normal(size=(4, 6)), random.normal(size=6)]
    gradients = random.normal(size=(STEPS, 4, 6))
    variables, steps = [keras.Variable(x, dtype="float64") for x in first], []
    for gradient in gradients:
        optimizer.apply([gradient, gradient.sum(0)], variables)
        steps.append([np.array(v.value) for v in variables])
    put(case, kernel0=first[0], bias0=first[1], gradients=gradients,
        kernels=[s[0] for s in steps], biases=[s[1] for s in steps])


SCHEDULES = {
    "cosine_decay": schedules.CosineDecay(1e-2, 40),
    "cosine_decay_floor": schedules.CosineDecay(1e-2, 40, alpha=0.1),
    "cosine_decay_warmup": schedules.CosineDecay(0.0, 30, warmup_target=1e-2, warmup_steps=10),
    "cosine_restarts": schedules.CosineDecayRestarts(1e-2, 10),
    "cosine_restarts_equal": schedules.CosineDecayRestarts(1e-2, 10, t_mul=1),
    "polynomial_decay": schedules.PolynomialDecay(1e-2, 40, 1e-4, power=2),
    "exponential_decay": schedules.ExponentialDecay(1e-2, 10, 0.5),
    "step_decay": schedules.ExponentialDecay(1e-2, 10, 0.5, staircase=True),
}

LOSSES = {  # name: (loss, what the predictions are, what the targets are)
    "smoothed_categorical_cross_entropy": (
        losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), "logits", "one_hot"),
    "focal_cross_entropy": (
        losses.CategoricalFocalCrossentropy(from_logits=True), "logits", "one_hot"),
    "binary_focal_cross_entropy": (
        losses.BinaryFocalCrossentropy(apply_class_balancing=True, from_logits=True),
        "logits", "decisions"),
    "huber": (losses.Huber(delta=0.7), "logits", "numbers"),
    "log_cosh": (losses.LogCosh(), "logits", "numbers"),
    "hinge": (losses.Hinge(), "logits", "decisions"),
    "squared_hinge": (losses.SquaredHinge(), "logits", "decisions"),
    "categorical_hinge": (losses.CategoricalHinge(), "logits", "one_hot"),
    "kl_divergence": (losses.KLDivergence(), "softmax", "probabilities"),
    "poisson_nll": (losses.Poisson(), "exp", "counts"),
    "cosine_similarity": (losses.CosineSimilarity(), "logits", "numbers"),
    "dice": (losses.Dice(axis=-1), "sigmoid", "decisions"),
}


def put_losses():
    for name, (loss, form, kind) in LOSSES.items():
        case = f"losses/{name}"
        random = begin(case, type(loss).__name__)
        logits = random.normal(size=(4, 6)) * 2
        labels = random.integers(6, size=4)
        targets = {
            "one_hot": np.eye(6)[labels],
            "decisions": random.integers(2, size=(4, 6)).astype(float),
            "numbers": random.normal(size=(4, 6)),
            "probabilities": random.dirichlet(np.ones(6), size=4),
            "counts": random.integers(5, size=(4, 6)).astype(float),
        }[kind]
        prediction = {
            "logits": lambda x: x,
            "softmax": lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
            "exp": np.exp,
            "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        }[form](logits)
        loss.reduction = None
        put(case, prediction=logits, target=targets,
            per_sample=np.broadcast_to(np.asarray(loss(tensor(targets), tensor(prediction))), 4))


def torch_order(kernel, gates):
    """A kernel (inputs, gates * units) as (gates * units, inputs) with the gates in this order."""
    parts = np.split(np.asarray(kernel), len(gates), axis=-1)
    return np.concatenate([parts[g] for g in gates], axis=-1).T


def put_layers():
    for name, make, gates in [
        ("lstm", layers.LSTM, [0, 1, 2, 3]),  # input, forget, cell, output, in both
        ("gru", layers.GRU, [1, 0, 2]),  # reset, update, new; Keras begins with update
        ("rnn", layers.SimpleRNN, [0]),
    ]:
        case = f"layers/{name}"
        random = begin(case, "")
        layer = make(3, return_sequences=True, unroll=True)
        x = random.normal(size=(2, 5, 4))
        layer.build(x.shape)
        for w in layer.weights:
            w.assign(random.normal(size=w.shape))
        kernel, recurrent, bias = [np.asarray(w.value) for w in layer.weights]
        both = bias if bias.ndim == 2 else np.stack([bias, np.zeros_like(bias)])
        put(case, input=x, output=np.asarray(layer(tensor(x))), weight_ih=torch_order(kernel, gates),
            weight_hh=torch_order(recurrent, gates), bias_ih=torch_order(both[0], gates),
            bias_hh=torch_order(both[1], gates))
    case = "layers/batch_norm"
    random = begin(case, "of a training step, and then of inference")
    layer = layers.BatchNormalization(axis=1)
    x = random.normal(size=(4, 3, 2, 5)) * 2 + 1
    layer.build(x.shape)
    training = np.asarray(layer(tensor(x), training=True))
    put(case, input=x, output=training, inference=np.asarray(layer(tensor(x), training=False)),
        running_mean=np.asarray(layer.moving_mean.value),
        running_var=np.asarray(layer.moving_variance.value))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    put_optimizers()
    put_whole("lamb", optimizers.Lamb(epsilon=1e-20))
    put_whole("muon", optimizers.Muon(epsilon=1e-20))
    for name, schedule in SCHEDULES.items():
        begin(f"schedules/{name}", schedule.get_config())
        put(f"schedules/{name}", rates=[float(schedule(step)) for step in range(40)])
    put_losses()
    put_layers()
    if check:
        stored = load_file(PATH)
        wrong = [name for name in sorted(stored.keys() | tensors.keys())
                 if name not in stored or name not in tensors or
                 not np.allclose(stored[name], tensors[name], rtol=1e-9, atol=1e-12)]
        raise SystemExit("\n".join(f"{name} differs" for name in wrong))
    golden = json.dumps({"keras": keras.__version__, "cases": notes}, sort_keys=True)
    save_file(dict(sorted(tensors.items())), PATH, metadata={"golden": golden})


if __name__ == "__main__":
    main()
