"""Makes the moving picture of `mycel demo` in the README: `python -m scripts.demo_picture`.

The demo runs in a real terminal of 80 columns, in a home of its own. What it printed becomes an animated SVG without
scripts and without fonts of others. Ids, dates, ports and codes are always the same ones, so that a second run changes
no more than the demo has changed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

FILE = Path(__file__).parent.parent / "docs" / "images" / "demo.svg"
MYCEL = Path(sys.executable).with_name("mycel")
COLUMNS, ROWS = 80, 26
MAX_BYTES = 150_000

# What differs from run to run, and what stands for it. An id is as long as what replaces it.
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MASKS = (
    (re.compile(r"http://127\.0\.0\.1:\d+"), "http://127.0.0.1:7077"),
    (re.compile(r"(?<=code=)\S+"), "kJ3u-9vQ…"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "2026-11-20"),
)
SGR = re.compile(r"\x1b\[([\d;]*)m")
OTHER_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b\][^\x07]*\x07")

# Dark in light and in dark surroundings alike: a terminal in a frame, with enough contrast for each colour.
BACKGROUND, FRAME, TEXT, DIM = "#14171c", "#3a424e", "#d8dee6", "#98a2b0"
COLOURS = {31: "#ff8f85", 32: "#8fd694", 33: "#e6c46a", 34: "#8ab4f8", 35: "#d7a8f0", 36: "#6fd3d8"}
CELL, LINE, MARGIN, BAR, SIZE = 8.4, 19, 18, 34, 14
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

# Seconds on the screen: a command is read as it is typed, then its answer, then what the step was about.
FIRST_SECONDS, TITLE_SECONDS, COMMAND_SECONDS, ANSWER_SECONDS, LAST_SECONDS = 0.3, 1.7, 0.55, 0.16, 6.0
TITLE_STYLE = f"fill:{COLOURS[36]};font-weight:700"
ABOUT = """In a terminal, three agents of one team share a memory: a lesson that one saves is in the prompt of another,
two that contradict each other wait for a person, and a question in other words finds the answer and says why."""


class Run(NamedTuple):
    """Characters of one line that look the same, from a column on."""

    column: int
    text: str
    style: str


def main() -> None:
    lines = shown_lines(masked(recorded()))
    picture = drawn(lines)
    FILE.write_text(picture, "utf-8")
    if FILE.stat().st_size > MAX_BYTES:
        sys.exit(f"{FILE.name} is larger than {MAX_BYTES:,} bytes")


def recorded() -> str:
    """Run the demo in a terminal, press Enter at the page, and return everything that came."""
    with tempfile.TemporaryDirectory() as home:
        process, terminal = pty.fork()
        if process == 0:
            kept = {"PATH": f"{MYCEL.parent}:{os.environ['PATH']}", "HOME": home, "TERM": "xterm-256color"}
            os.execve(MYCEL, ["mycel", "demo", "--fast"], {**kept, "LANG": "C.UTF-8"})  # noqa: S606 - our own command
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        came, is_over = b"", False
        while chunk := read(terminal):
            came += chunk
            if not is_over and b"press Enter" in came:
                is_over = bool(os.write(terminal, b"\n"))
        _, status = os.waitpid(process, 0)
        if status:
            sys.exit(f"the demo failed:\n{came.decode()}")
    return came.decode("utf-8")


def read(terminal: int) -> bytes:
    """On Linux a terminal that nobody writes to any more is an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def masked(text: str) -> str:
    """Put the same ids, dates, ports and codes into every run; what was one id stays one."""
    found = list(dict.fromkeys(UUID.findall(text)))
    for number, id in enumerate(found):
        text = text.replace(id, f"01a1e05{number}-a17d-713e-9e50-adbab359{6347 + 1113 * number:04x}")
    for pattern, always in MASKS:
        text = pattern.sub(always, text)
    # The end of the page is no part of the picture, which goes back to its beginning.
    return text.partition("The page stays up")[0].rstrip()


def shown_lines(text: str) -> list[list[Run]]:
    lines: list[list[Run]] = []
    codes: list[int] = []
    for row in OTHER_ESCAPES.sub("", text).replace("\r", "").split("\n"):
        runs: list[Run] = []
        column = 0
        for place, piece in enumerate(SGR.split(row)):
            if place % 2:
                new = [int(code) for code in piece.split(";") if code] or [0]
                codes = [] if new == [0] else [*codes, *new]
            else:
                # Blanks are a distance, not text; several between words are cells of a table.
                for part in re.finditer(r"\S+(?: \S+)*", piece):
                    runs.append(Run(column + part.start(), part[0], style_of(codes)))
                column += len(piece)
        lines.append(runs)
    return lines


def style_of(codes: list[int]) -> str:
    fill = next((COLOURS[code] for code in reversed(codes) if code in COLOURS), DIM if 2 in codes else "")
    weight, slant = "font-weight:700" if 1 in codes else "", "font-style:italic" if 3 in codes else ""
    return ";".join(filter(None, (f"fill:{fill}" if fill else "", weight, slant)))


def times_of(lines: list[list[Run]]) -> list[float]:
    """When each line appears, by what it is: the title of a step, a command, or an answer."""
    moments: list[float] = []
    now = FIRST_SECONDS
    for runs in lines:
        first = runs[0] if runs else Run(0, "", "")
        is_title = re.match(r"\d\. ", first.text) and first.style == TITLE_STYLE
        now += TITLE_SECONDS if is_title else COMMAND_SECONDS if first.text.startswith("$") else ANSWER_SECONDS
        moments.append(now)
    return moments


def drawn(lines: list[list[Run]]) -> str:
    """Everything is there from the beginning: a cover goes down line by line, and the sheet below the frame goes up."""
    moments = times_of(lines)
    whole = moments[-1] + LAST_SECONDS
    width, height = 2 * MARGIN + COLUMNS * CELL, BAR + ROWS * LINE + MARGIN
    last_shift = max(0, len(lines) - ROWS) * LINE
    covers, shifts = ["0%{transform:translateY(0)}"], ["0%{transform:translateY(0)}"]
    for number, moment in enumerate(moments, start=1):
        at = f"{100 * moment / whole:.2f}%"
        covers.append(f"{at}{{transform:translateY({number * LINE}px)}}")
        if number > ROWS:
            shifts.append(f"{at}{{transform:translateY(-{(number - ROWS) * LINE}px)}}")
    styles = sorted({run.style for runs in lines for run in runs if run.style})
    names = {style: f"s{number}" for number, style in enumerate(styles)}
    css = f"""
text{{font:{SIZE}px {FONTS};fill:{TEXT};white-space:pre}}
{"".join(f".{name}{{{style}}}" for style, name in names.items())}
.cover{{fill:{BACKGROUND};transform:translateY({len(lines) * LINE}px);animation:cover {whole:.1f}s step-end infinite}}
.sheet{{transform:translateY(-{last_shift}px);animation:sheet {whole:.1f}s step-end infinite}}
@keyframes cover{{{"".join(covers)}}}
@keyframes sheet{{{"".join(shifts)}}}
@media (prefers-reduced-motion:reduce){{.cover,.sheet{{animation:none}}}}
"""
    texts = "\n".join(
        f'<text x="{MARGIN + run.column * CELL:.1f}" y="{number * LINE + SIZE}"{class_of(names, run)}'
        f' textLength="{len(run.text) * CELL:.1f}" lengthAdjust="spacingAndGlyphs">{escape(run.text)}</text>'
        for number, runs in enumerate(lines)
        for run in runs
    )
    dots = "".join(
        f'<circle cx="{MARGIN + 4 + 18 * place}" cy="{BAR / 2}" r="5" fill="{FRAME}"/>' for place in range(3)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">
<title>mycel demo</title>
<desc>{escape(ABOUT)}</desc>
<style>{css}</style>
<clipPath id="screen"><rect x="0" y="{BAR}" width="{width:.0f}" height="{ROWS * LINE + 4}"/></clipPath>
<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="9" fill="{BACKGROUND}" stroke="{FRAME}"/>
{dots}
<g clip-path="url(#screen)"><g transform="translate(0 {BAR})"><g class="sheet">
{texts}
<rect class="cover" x="1" y="0" width="{width - 2:.0f}" height="{(len(lines) + ROWS) * LINE}"/>
</g></g></g>
</svg>
"""


def class_of(names: dict[str, str], run: Run) -> str:
    return f' class="{names[run.style]}"' if run.style else ""


if __name__ == "__main__":
    main()
