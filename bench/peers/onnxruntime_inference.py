#!/usr/bin/env python3
"""Predictions of single samples by ONNX Runtime on one thread, with the names of bench_inference.

Prints one line for each benchmark: its name and samples per second, called from Python.
"""

import argparse
import re
import time

import numpy
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper


class Model:
    """A sequential network with random weights as an ONNX graph."""

    def __init__(self, *shape):
        self.random = numpy.random.default_rng(42)
        self.input = helper.make_tensor_value_info("0", TensorProto.FLOAT, (1, *shape))
        self.nodes, self.weights = [], []

    def add(self, operator, *weight_shapes, **attributes):
        count = len(self.nodes)
        names = [f"w{count}_{i}" for i in range(len(weight_shapes))]
        for name, shape in zip(names, weight_shapes):
            values = self.random.uniform(-0.1, 0.1, shape).astype(numpy.float32)
            self.weights.append(numpy_helper.from_array(values, name))
        self.nodes.append(helper.make_node(operator, [str(count), *names], [str(count + 1)],
                                           **attributes))
        return self

    def dense(self, inputs, units):
        return self.add("Gemm", (units, inputs), (units,), transB=1)

    def conv(self, channels, filters):
        return self.add("Conv", (filters, channels, 3, 3), (filters,))

    def pool(self):
        return self.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])

    def relu(self):
        return self.add("Relu")

    def session(self):
        output = helper.make_tensor_value_info(str(len(self.nodes)), TensorProto.FLOAT, (1, None))
        graph = helper.make_graph(self.nodes, "network", [self.input], [output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                            providers=["CPUExecutionProvider"])


def convnet():
    return (Model(1, 28, 28).conv(1, 32).relu().pool().conv(32, 64).relu().pool().conv(64, 64)
            .relu().add("Flatten").dense(576, 64).relu().dense(64, 10))


def tiny_mlp():
    return Model(13).dense(13, 16).relu().dense(16, 32).relu().dense(32, 1)


def samples_per_second(network, shape, seconds):
    session = network().session()
    feed = {"0": numpy.random.default_rng(1).random((1, *shape), dtype=numpy.float32)}
    for _ in range(100):
        session.run(None, feed)
    runs, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        for _ in range(10):
            session.run(None, feed)
        runs += 10
    return runs / elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="regular expression for names")
    parser.add_argument("--seconds", type=float, default=1, help="per benchmark (default 1)")
    options = parser.parse_args()
    for network, shape in [(tiny_mlp, (13,)), (convnet, (1, 28, 28))]:
        name = f"{network.__name__}/predict"
        if re.search(options.filter, name):
            print(name, f"{samples_per_second(network, shape, options.seconds):.1f}", flush=True)


if __name__ == "__main__":
    main()
