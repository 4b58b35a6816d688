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

# loss, accuracy, confusion_matrix, learning_rate; two more histories; memory; times
charts = list(root.iter(f"{SVG}svg"))
assert len(charts) == 8, len(charts)
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
    assert dom.count("<svg") == 8 and dom.count("<figure>") == 5, "what the browser made of it"
