#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a terminal's screen as an SVG: reads what `tmux capture-pane -e -p` prints, and writes a picture.

usage: terminal_svg.py COLUMNS ROWS TITLE < captured > picture.svg
"""
import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 9.0, 20.0, 15
MARGIN, TITLE_HEIGHT = 14.0, 34.0
BACKGROUND, FOREGROUND, FRAME, BAR = "#fbfbf8", "#24292e", "#c8c8c0", "#ecece6"
COLOURS = {31: "#b3261e", 32: "#2e7d32", 33: "#9a6700", 34: "#1f5fbf", 35: "#8e3a9d", 36: "#00707f"}
FONT = "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace"
# The parts of a cell that block elements fill: left, top, width, height.
BLOCKS = {"█": (0, 0, 1, 1), "▀": (0, 0, 1, 0.5), "▐": (0.5, 0, 0.5, 1)}
BLOCKS.update({chr(0x2588 + n): (0, 0, 1 - n / 8, 1) for n in range(1, 8)})
BLOCKS.update({chr(0x2580 + n): (0, 1 - n / 8, 1, n / 8) for n in range(1, 8)})


# The dots of a Braille pattern, from the lowest bit on: column and row.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def is_braille(character):
    return 0x2800 <= ord(character[0]) <= 0x28FF


def width(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


PLAIN = {"colour": None, "bold": False, "dim": False, "inverse": False}


def cells(line, state):
    """The characters of a line with their columns and styles. `state` holds the style, which goes on in the next line."""
    style = state.get("style", PLAIN)
    column = 0
    for match in re.finditer(r"\x1b\[([0-9;]*)m|(.)", line):
        if match.group(2) is None:
            for code in [int(code or 0) for code in match.group(1).split(";")]:
                if code == 0:
                    style = PLAIN
                elif code == 1:
                    style = {**style, "bold": True}
                elif code == 2:
                    style = {**style, "dim": True}
                elif code == 7:
                    style = {**style, "inverse": True}
                elif code == 22:
                    style = {**style, "bold": False, "dim": False}
                elif code == 27:
                    style = {**style, "inverse": False}
                elif code in COLOURS:
                    style = {**style, "colour": COLOURS[code]}
                elif code == 39:
                    style = {**style, "colour": None}
            state["style"] = style
            continue
        yield column, match.group(2), style
        column += width(match.group(2))


def runs(line, state):
    """Neighbouring characters of one style and one kind."""
    run = None
    for column, character, style in cells(line, state):
        is_block = character in BLOCKS or character == "░" or is_braille(character)
        is_plain = width(character) == 1 and not is_block
        if run and is_plain and run["plain"] and run["style"] == style and run["end"] == column:
            run["text"] += character
            run["end"] += 1
            continue
        if run:
            yield run
        run = {"start": column, "end": column + width(character), "text": character, "style": style, "plain": is_plain}
    if run:
        yield run


def draw(run, row):
    x, y = MARGIN + run["start"] * CELL_WIDTH, TITLE_HEIGHT + MARGIN / 2 + row * CELL_HEIGHT
    size = (run["end"] - run["start"]) * CELL_WIDTH
    style, text = run["style"], run["text"]
    ink, opacity = style["colour"] or FOREGROUND, ' opacity="0.62"' if style["dim"] else ""
    if style["inverse"]:
        yield f'<rect x="{x:g}" y="{y:g}" width="{size:g}" height="{CELL_HEIGHT:g}" fill="{ink}"{opacity}/>'
        ink = BACKGROUND
    if text in BLOCKS:
        left, top, wide, high = BLOCKS[text]
        # Bars of neighbouring rows don't touch.
        gap = 2 if high == 1 else 0
        yield (
            f'<rect x="{x + left * CELL_WIDTH:g}" y="{y + gap + top * CELL_HEIGHT:g}" width="{wide * CELL_WIDTH + 0.3:g}" '
            f'height="{high * CELL_HEIGHT - 2 * gap:g}" fill="{ink}"{opacity}/>')
    elif is_braille(text):
        for bit, (column, line) in enumerate(DOTS):
            if ord(text) - 0x2800 & 1 << bit:
                yield (
                    f'<circle cx="{x + (column + 0.5) * CELL_WIDTH / 2:g}" cy="{y + (line + 0.5) * CELL_HEIGHT / 4:g}" '
                    f'r="1.7" fill="{ink}"{opacity}/>')
    elif text == "░":
        yield (
            f'<rect x="{x:g}" y="{y + 2:g}" width="{CELL_WIDTH + 0.3:g}" height="{CELL_HEIGHT - 4:g}" fill="{ink}" '
            'opacity="0.16"/>')
    elif text.strip():
        weight = ' font-weight="bold"' if style["bold"] else ""
        begin = len(text) - len(text.lstrip())
        shown = text.strip()
        length = (run["end"] - run["start"] - (len(text) - len(shown))) * CELL_WIDTH
        yield (
            f'<text x="{x + begin * CELL_WIDTH:g}" y="{y + CELL_HEIGHT - 5:g}" textLength="{length:g}" fill="{ink}"{weight}{opacity}>'
            f"{escape(shown)}</text>")


def main():
    columns, rows, title = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    lines = sys.stdin.read().split("\n")[:rows]
    wide, high = columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + TITLE_HEIGHT + MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}">')
    print(f"<title>{escape(title)}</title>")
    print(f'<rect x="0.5" y="0.5" width="{wide - 1:g}" height="{high - 1:g}" rx="8" fill="{BACKGROUND}" stroke="{FRAME}"/>')
    print(f'<path d="M0.5 26 V8.5 a8 8 0 0 1 8 -8 H{wide - 8.5:g} a8 8 0 0 1 8 8 V26 Z" fill="{BAR}" stroke="{FRAME}"/>')
    print(f'<text x="{wide / 2:g}" y="18" text-anchor="middle" font-family="sans-serif" font-size="13" fill="#57606a">{escape(title)}</text>')
    print(f'<g font-family="{FONT}" font-size="{FONT_SIZE}" xml:space="preserve">')
    state = {}
    for row, line in enumerate(lines):
        for run in runs(line, state):
            for part in draw(run, row):
                print(part)
    print("</g>\n</svg>")


main()
