"""Do the printed equations of the sources' examples fit on one page each, by every formulation?

    python benchmarks/printed_pages.py [example ...] [--by formulation ...] [--full] [--tiny]

For every example and formulation: which form is printed ("scalar" where the equations fit on a page
multiplied out, "compact" else), lines and characters of text, pages of LaTeX (A4, 11 pt, margins of
2.5 cm; needs pdflatex, without which the column is empty), how far a line reaches into the margin,
intermediate variables (there should be none), and the processor time of text() and latex()
together. --full prints them multiplied out in any case. It ends with status 1 where something takes
more than a page.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import catena
from catena.equations.formulations import ALL_FORMULATIONS

SOURCES = {  # example: where it is worked out
    "planar_two_link": "[Quinn1991], example one",
    "spatial_six_dof": "[Quinn1991], example two",
    "triple_pendulum": "[Baysec1996], figures 1-7",
    "space_manipulator": "[Passerello1972], chapter V",
    "stanford_arm": "[Merwe1995], sections 2.6, 4.5",
    "four_link_closed": "[Merwe1995], section 5.5",
    "two_links_one_load": "[Merwe1995], section 6.5",
    "high_stiffness_low_mass": "[Merwe1995], chapter 8",
}
CLASSICS = ("cart_pole", "double_pendulum", "spherical_pendulum", "top")
HEAD = r"\documentclass[11pt,a4paper]{article}\usepackage[margin=2.5cm]{geometry}\usepackage{amsmath}\allowdisplaybreaks\pagestyle{empty}\begin{document}"  # noqa: E501


def pages(latex: str) -> tuple[int | None, float]:
    """Pages, and points by which the widest line is too wide; no pages where LaTeX is not
    installed.
    """
    if shutil.which("pdflatex") is None:
        return None, 0.0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "print.tex").write_text(f"{HEAD}\n{latex}\n\\end{{document}}\n")
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "print.tex"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
    found = re.search(r"Output written on print.pdf \((\d+) page", done.stdout)
    if found is None or "\n! " in done.stdout:
        raise SystemExit(f"LaTeX has an error:\n{done.stdout[-1500:]}")
    return int(found[1]), max(
        (float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)), default=0.0
    )


def main() -> bool:
    """Print the table; whether something takes more than a page."""
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("examples", nargs="*", help=f"by default {', '.join((*CLASSICS, *SOURCES))}")
    ask.add_argument("--by", nargs="*", default=list(ALL_FORMULATIONS))
    ask.add_argument("--full", action="store_true")
    ask.add_argument("--tiny", action="store_true", help="one example by two formulations")
    given, longest = ask.parse_args(), 0
    if given.tiny:
        given.examples = ["planar_two_link"]
        given.by = ["lagrange", "maggi"]
    print(
        f"{'example':24}{'formulation':21}{'form':9}{'lines':>6}{'characters':>12}{'pages':>7}{'too wide':>10}{'intermediates':>15}{'time':>8}"  # noqa: E501
    )
    for name in given.examples or (*CLASSICS, *SOURCES):
        for by in given.by:
            equations = catena.derive(catena.load(name), by=by)
            start = time.process_time()
            text = equations.text(full=given.full)
            latex = equations.latex(full=given.full)
            spent = time.process_time() - start
            count, wide = pages(latex)
            longest = max(longest, count or 0)
            form = "compact" if r"\begin{tabular}" in latex else "scalar"
            steps = len(re.findall(r"^[zuy]\d+ = ", text, re.MULTILINE))
            print(
                f"{name:24}{by:21}{form:9}{text.count(chr(10)) + 1:6d}{len(text):12d}{count or '':>7}{wide:7.1f}"  # noqa: E501
                f" pt{steps:15d}{spent:6.1f} s",
                flush=True,
            )
    return longest > 1


if __name__ == "__main__" and main():
    raise SystemExit(1)
