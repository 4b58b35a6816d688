# read.py FOLDER: compares an event file, as TensorBoard reads it, with what write.cpp wrote.
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2

events = EventAccumulator(sys.argv[1])
events.Reload()
assert events.file_version == 2.0, events.file_version
scalars = [(event.step, event.value) for event in events.Scalars("loss")]
assert len(scalars) == 5, scalars
assert all(abs(value - 1 / (1 + step)) < 1e-6 for step, value in scalars), scalars
(histogram,) = events.Histograms("values")
assert histogram.step == 300, histogram
numbers = histogram.histogram_value
assert (numbers.min, numbers.max, numbers.num, numbers.sum, numbers.sum_squares) == (1, 3, 4, 8, 18), numbers
assert sum(numbers.bucket) == 4 and numbers.bucket[0] == 1 and numbers.bucket[-1] == 1, numbers
assert numbers.bucket_limit[-1] == 3, numbers
assert events.Tensors("note")[0].tensor_proto.string_val[0].decode() == "**bold** ü"
(image,) = events.Images("picture")
assert (image.step, image.width, image.height) == (2, 5, 7), image
assert image.encoded_image_string == b"\x89PNG\x00\xff", image
assert {"0.weight", "0.bias"} <= set(events.Tags()["histograms"])
assert {"0.weight.gradient", "2.bias.gradient"} <= set(events.Tags()["histograms"])

graph = events.Graph()
nodes = {node.name: node for node in graph.node}
assert "inputs" in nodes and len(nodes) > 2, nodes
assert all(read in nodes for node in nodes.values() for read in node.input), graph
assert any("0.weight" in node.op and list(node.input) == ["inputs"] for node in nodes.values()), graph

tag = "_hparams_/session_start_info"
content = plugin_data_pb2.HParamsPluginData.FromString(events.summary_metadata[tag].plugin_data.content)
settings = {name: value.number_value for name, value in content.session_start_info.hparams.items()}
assert settings["learning_rate"] == 0.25 and settings["samples_per_step"] == 4, settings
content = plugin_data_pb2.HParamsPluginData.FromString(
    events.summary_metadata["_hparams_/session_end_info"].plugin_data.content)
assert content.session_end_info.status == 1, content
