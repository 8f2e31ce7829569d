"""check_places.py WORDS.json NAME PDF [PASSWORD]: whether a searchable PDF has the words of NAME where these are printed.

Prints for each page how many words are there, and fails if one in fifty is missing or off by 2 % of the page's width.
"""
import html
import json
import math
import re
import subprocess
import sys

known, name, document = sys.argv[1:4]
password = ["-upw", sys.argv[4]] if len(sys.argv) > 4 else []
told = subprocess.run(
    ["pdftotext", *password, "-cropbox", "-bbox", document, "-"], stdout=subprocess.PIPE, check=True, text=True).stdout
WORD = re.compile(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')
sizes = subprocess.run(
    ["pdfinfo", *password, "-box", "-l", "-1", document], stdout=subprocess.PIPE, check=True, text=True).stdout
wrong = False
pages = told.split("<page ")[1:]
for number, (page, words) in enumerate(zip(pages, json.load(open(known))[name], strict=True), 1):
    box = [float(side) for side in re.search(rf"Page +{number} CropBox: +(.*)", sizes).group(1).split()]
    width, height = box[2] - box[0], box[3] - box[1]
    turned = re.search(rf"Page +{number} rot: +(\d+)", sizes)
    if turned and int(turned.group(1)) % 180:
        width, height = height, width
    found = [(html.unescape(word), (float(a) + float(c)) / 2, (float(b) + float(d)) / 2) for a, b, c, d, word in WORD.findall(page)]
    there = 0
    for word, x, y in words:
        there += any(
            word == other and math.hypot(x * width - left, y * height - top) <= 0.02 * width for other, left, top in found)
    print(f"page {number}: {there} of {len(words)}")
    wrong = wrong or there < 0.98 * len(words)
sys.exit(1 if wrong else 0)
