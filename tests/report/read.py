"""read.py FILE [DOM]: looks whether a report of write.cpp has what it should; DOM is what a browser
made of it."""

import base64
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

page = open(sys.argv[1], encoding="utf-8").read()
HTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
root = ElementTree.fromstring(page.replace("<!DOCTYPE html>", "", 1))  # XML, or an exception

assert root.find(f".//{HTML}title").text == "Shirts & <others>"
headings = [h.text for h in root.iter(f"{HTML}h2")]
assert headings == ["History"] * 3 + [
    "Confusion matrix", "Network", "Memory", "Time of a step",
    "Samples with the largest losses", "Notes"], headings

# loss, accuracy, confusion_matrix, learning_rate; two more histories; network; memory; times
charts = list(root.iter(f"{SVG}svg"))
assert len(charts) == 10, len(charts)
network, places = charts.pop(6), charts.pop(7)
lines = [[p.get("points").split() for p in chart.iter(f"{SVG}polyline")] for chart in charts]
assert [len(line) for line in lines] == [2, 2, 2, 1, 1, 1, 1, 0]
assert [len(points) for points in lines[0]] == [3, 3]
assert len(lines[4][0]) == 2, "no point where there is no number"
for chart in charts:
    _, _, width, height = map(float, chart.get("viewBox").split())
    for points in chart.iter(f"{SVG}polyline"):
        for x, y in (map(float, point.split(",")) for point in points.get("points").split()):
            assert 0 <= x <= width and 0 <= y <= height, (x, y)
assert len(list(charts[-1].iter(f"{SVG}rect"))) > 3

# Each launch reads what one above it has written, and says which parameters it reads.
rows = [text.text for text in network.iter(f"{SVG}text")]
assert rows[0] == "inputs" and len(rows) == 1 + len(list(network.iter(f"{SVG}circle"))), rows
assert any("conv" in row and "0.weight" in row for row in rows), rows
assert any("matmul" in row and "3.weight" in row and "3.bias" in row for row in rows), rows
read = [[float(x) for x in re.findall(r"[\d.]+", arc.get("d"))] for arc in network.iter(f"{SVG}path")]
assert len(read) == len(rows) - 1, "one operand for each launch of a chain"
assert all(y_from < y_to for _, y_from, *_, y_to in read), read

# No two values share memory at a time, but where a launch writes its result over an operand.
boxes = [tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
         for r in places.iter(f"{SVG}rect")]
assert len(boxes) > 3
launches = re.search(r"over the (\d+) launches", "".join(places.itertext())).group(1)
launch = (748 - 64) / int(launches)
for i, (x, y, width, height) in enumerate(boxes):
    assert width > 0 and height > 0 and x >= 0 and y >= 0
    for x2, y2, width2, height2 in boxes[:i]:
        together = min(x + width, x2 + width2) - max(x, x2)
        beside = min(y + height, y2 + height2) - max(y, y2)
        assert beside < 1e-2 or together < 1.01 * launch, (boxes[i], (x2, y2, width2, height2))

cells = [float(td.text) for td in root.iter(f"{HTML}table") for td in td.iter(f"{HTML}td")]
assert cells, "tables have numbers"
matrix = root.findall(f".//{HTML}table")[3]
counts = [[float(td.text) for td in row.iter(f"{HTML}td")][:3] for row in matrix.iter(f"{HTML}tr")]
assert [sum(row) for row in counts[1:]] == [8, 8, 8], counts
assert [th.text for th in matrix.iter(f"{HTML}th")][1:4] == ["shirt", '"bag"', "2"]

figures = list(root.iter(f"{HTML}figure"))
assert len(figures) == 5
losses = [float(re.search(r"loss ([\d.e+-]+)", "".join(f.itertext())).group(1)) for f in figures]
assert losses == sorted(losses, reverse=True), losses
for image in root.iter(f"{HTML}img"):
    kind, data = image.get("src").split(",")
    bitmap = base64.b64decode(data, validate=True)
    assert kind == "data:image/bmp;base64" and bitmap[:2] == b"BM"
    assert int.from_bytes(bitmap[2:6], "little") == len(bitmap) == 54 + 6 * 16
    assert int.from_bytes(bitmap[18:22], "little") == 5
    assert int.from_bytes(bitmap[22:26], "little") == 6
assert "dense" in page and "Training memory" in page


class Tags(HTMLParser):
    """Fails where a browser would load something."""

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "iframe"), tag
        for name, value in attributes:
            assert name not in ("src", "href") or value.startswith("data:"), (tag, name, value)


Tags().feed(page)

if len(sys.argv) > 2:
    dom = open(sys.argv[2], encoding="utf-8").read()
    assert dom.count("<svg") == 10 and dom.count("<figure>") == 5, "what the browser made of it"
