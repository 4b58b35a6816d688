#!/usr/bin/env python3
"""Predictions of single samples by ONNX Runtime and OpenVINO, with the names of bench_inference.

Prints one line for each library, benchmark and number of threads: microseconds of the processor (of
all threads) and on the clock, each the smallest of some repetitions, called from Python.
"""

import argparse
import re
import time

import numpy
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper


class Model:
    """A network with random weights as an ONNX graph; layers are functions of names of tensors."""

    def __init__(self, *shape):
        self.random = numpy.random.default_rng(42)
        self.shape = (1, *shape)
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        self.nodes, self.weights = [], []

    def add(self, operator, inputs, *weight_shapes, **attributes):
        count = len(self.nodes)
        names = [f"w{count}_{i}" for i in range(len(weight_shapes))]
        for name, shape in zip(names, weight_shapes):
            scale = 1 / numpy.sqrt(numpy.prod(shape[1:])) if len(shape) > 1 else 0.1
            values = self.random.uniform(-scale, scale, shape).astype(numpy.float32)
            self.weights.append(numpy_helper.from_array(values, name))
        inputs = [inputs] if isinstance(inputs, str) else inputs
        self.nodes.append(helper.make_node(operator, [*inputs, *names], [f"t{count}"],
                                           **attributes))
        return f"t{count}"

    def dense(self, x, inputs, units):
        return self.add("Gemm", x, (units, inputs), (units,), transB=1)

    def conv(self, x, channels, filters, kernel=3, stride=1, padding=0, groups=1, bias=True):
        biases = [(filters,)] if bias else []
        return self.add("Conv", x, (filters, channels // groups, kernel, kernel), *biases,
                        strides=[stride] * 2, pads=[padding] * 4, group=groups)

    def norm(self, x, channels):
        count = len(self.nodes)
        for name in "abmv":
            self.weights.append(numpy_helper.from_array(
                numpy.full(channels, float(name in "av"), numpy.float32), f"n{count}{name}"))
        return self.add("BatchNormalization", [x, *(f"n{count}{name}" for name in "abmv")])

    def conv_norm(self, x, channels, filters, kernel=3, stride=1, groups=1):
        x = self.conv(x, channels, filters, kernel, stride, kernel // 2, groups, bias=False)
        return self.norm(x, filters)

    def pool(self, x, kernel=2, stride=2, padding=0, kind="MaxPool"):
        return self.add(kind, x, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                        pads=[padding] * 4)

    def relu(self, x):
        return self.add("Relu", x)

    def relu6(self, x):
        if not any(w.name == "six" for w in self.weights):
            self.weights += [numpy_helper.from_array(numpy.float32(v), n)
                             for n, v in (("zero", 0), ("six", 6))]
        return self.add("Clip", [x, "zero", "six"])

    def mean(self, x):
        return self.add("Flatten", self.add("GlobalAveragePool", x))

    def serialized(self, last):
        rank = 4 if self.nodes[-1].op_type == "Conv" else 2
        output = helper.make_tensor_value_info(last, TensorProto.FLOAT, [1] + [None] * (rank - 1))
        graph = helper.make_graph(self.nodes, "network", [self.input], [output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker.check_model(model)
        return model.SerializeToString()


def convnet():
    m = Model(1, 28, 28)
    x = m.pool(m.relu(m.conv("x", 1, 32)))
    x = m.pool(m.relu(m.conv(x, 32, 64)))
    x = m.add("Flatten", m.relu(m.conv(x, 64, 64)))
    return m, m.dense(m.relu(m.dense(x, 576, 64)), 64, 10)


def tiny_mlp():
    m = Model(13)
    return m, m.dense(m.relu(m.dense(m.relu(m.dense("x", 13, 16)), 16, 32)), 32, 1)


def mlp_2048():
    m = Model(2048)
    return m, m.dense(m.relu(m.dense(m.relu(m.dense("x", 2048, 2048)), 2048, 2048)), 2048, 10)


def mobilenetv2():
    m = Model(3, 96, 96)
    x = m.relu6(m.conv_norm("x", 3, 32, 3, 2))
    x = m.conv_norm(m.relu6(m.conv_norm(x, 32, 32, groups=32)), 32, 16, 1)
    channels = 16
    for expand, filters, count, stride in [(6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                           (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(count):
            wide, step = expand * channels, stride if i == 0 else 1
            y = m.relu6(m.conv_norm(x, channels, wide, 1))
            y = m.relu6(m.conv_norm(y, wide, wide, 3, step, wide))
            y = m.conv_norm(y, wide, filters, 1)
            x = m.add("Add", [x, y]) if i > 0 else y
            channels = filters
    return m, m.dense(m.mean(m.relu6(m.conv_norm(x, 320, 1280, 1))), 1280, 1000)


def densenet():
    m = Model(3, 112, 112)
    x = m.pool(m.relu(m.conv_norm("x", 3, 64, 7, 2)), 3, 2, 1)

    def norm_conv(x, channels, filters, kernel):
        x = m.relu(m.norm(x, channels))
        return m.conv(x, channels, filters, kernel, 1, kernel // 2, bias=False)

    def block(x, channels, layers):
        for _ in range(layers):
            y = norm_conv(norm_conv(x, channels, 128, 1), 128, 32, 3)
            x = m.add("Concat", [x, y], axis=1)
            channels += 32
        return x

    x = m.pool(norm_conv(block(x, 64, 6), 256, 128, 1), kind="AveragePool")
    return m, m.dense(m.mean(m.relu(m.norm(block(x, 128, 12), 512))), 512, 1000)


def unet():
    m = Model(3, 128, 128)
    m.weights.append(numpy_helper.from_array(numpy.array([1, 1, 2, 2], numpy.float32), "twice"))

    def conv(x, channels, filters):
        return m.relu(m.conv_norm(x, channels, filters))

    def level(x, channels, filters):
        beside = conv(conv(x, channels, filters), filters, filters)
        if filters == 256:
            return beside
        below = level(m.pool(beside), filters, 2 * filters)
        below = m.add("Resize", [below, "", "twice"], mode="nearest")
        x = m.add("Concat", [beside, conv(below, 2 * filters, filters)], axis=1)
        return conv(conv(x, 2 * filters, filters), filters, filters)

    return m, m.conv(level("x", 3, 32), 32, 1, 1)


def resnet50():
    m = Model(3, 224, 224)
    x = m.pool(m.relu(m.conv_norm("x", 3, 64, 7, 2)), 3, 2, 1)
    channels = 64
    for width, count, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for i in range(count):
            step = stride if i == 0 else 1
            y = m.relu(m.conv_norm(x, channels, width, 1))
            y = m.conv_norm(m.relu(m.conv_norm(y, width, width, 3, step)), width, 4 * width, 1)
            x = m.conv_norm(x, channels, 4 * width, 1, step) if i == 0 else x
            x, channels = m.relu(m.add("Add", [x, y])), 4 * width
    return m, m.dense(m.mean(x), 2048, 1000)


def onnx_runtime(model, last, feed, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(model.serialized(last), options,
                                           providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": feed})


def openvino(model, last, feed, threads):
    import openvino as ov
    core = ov.Core()
    compiled = core.compile_model(core.read_model(model.serialized(last)), "CPU",
                                  {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                                   "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    return lambda: request.infer({0: feed}, share_inputs=True)


def smallest_times(call, seconds, repetitions):
    """Of one call: microseconds of the processor, and on the clock."""
    for _ in range(3):
        call()
    begin = time.perf_counter()
    call()
    calls = max(1, int(seconds / (time.perf_counter() - begin)))
    cpu, clock = [], []
    for _ in range(repetitions):
        begin, used = time.perf_counter(), time.process_time()
        for _ in range(calls):
            call()
        cpu.append((time.process_time() - used) / calls * 1e6)
        clock.append((time.perf_counter() - begin) / calls * 1e6)
    return min(cpu), min(clock)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="regular expression for names")
    parser.add_argument("--seconds", type=float, default=0.05, help="per repetition")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    libraries = [("ONNX Runtime", onnx_runtime), ("OpenVINO", openvino)]
    for network in [tiny_mlp, convnet, mlp_2048, mobilenetv2, densenet, unet, resnet50]:
        for threads in options.threads:
            name = f"{network.__name__}/predict/threads:{threads}"
            for library, session in libraries:
                if not re.search(options.filter, name):
                    continue
                model, last = network()
                feed = model.random.random(model.shape, dtype=numpy.float32)
                cpu, clock = smallest_times(session(model, last, feed, threads), options.seconds,
                                            options.repetitions)
                print(f"{library}: {name} cpu {cpu:.1f} clock {clock:.1f}", flush=True)


if __name__ == "__main__":
    main()
