"""Predictions of single samples by castnet, ONNX Runtime and OpenVINO, which take turns."""

import os
import subprocess
import time
from pathlib import Path

import onnxruntime
import openvino

ROOT = Path(__file__).resolve().parents[2]


def add_options(parser):
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a library in a round")
    parser.add_argument("--clock", action="store_true", help="time on the clock")


def build(program, header, network, *flags):
    """Compiles the program of a network that this header has."""
    subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", "-fopenmp", "-I", str(ROOT / "include"), *flags,
                    f"-DHEADER={header}", f"-DNETWORK={network}", str(Path(__file__).with_name("predict.cpp")),
                    "-o", str(program)], check=True)


class Castnet:
    """A process that predicts as often as it is told."""

    def __init__(self, program, threads):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=os.environ | {"OMP_NUM_THREADS": str(threads)})

    def times(self, calls):
        print(calls, file=self.process.stdin, flush=True)
        return tuple(float(word) / calls for word in self.process.stdout.readline().split())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Peer:
    def __init__(self, call):
        self.call = call

    def times(self, calls):
        processor, clock = time.process_time(), time.perf_counter()
        for _ in range(calls):
            self.call()
        return (time.process_time() - processor) / calls, (time.perf_counter() - clock) / calls


def onnx_runtime(path, x, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return Peer(lambda: session.run(None, {"x": x}))


def open_vino(path, x, threads):
    core = openvino.Core()
    network = core.compile_model(core.read_model(path), "CPU",
                                 {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                                  "INFERENCE_PRECISION_HINT": "f32"})
    request = network.create_infer_request()
    return Peer(lambda: request.infer({0: x}, share_inputs=True))


def smallest_times(program, path, x, options):
    """The smallest time of castnet's program, and of the peers with a network and a sample."""
    castnet = Castnet(program, options.threads)
    libraries = [castnet, onnx_runtime(path, x, options.threads), open_vino(path, x, options.threads)]
    best = [float("inf")] * len(libraries)
    calls = [max(1, int(options.seconds / library.times(2)[1])) for library in libraries]
    for _ in range(options.rounds):
        for i, library in enumerate(libraries):
            best[i] = min(best[i], library.times(calls[i])[options.clock])
    castnet.end()
    return best
