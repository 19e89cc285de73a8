#!/usr/bin/env python3
"""How fast PDF is read: pages a CPU second with structure and peak memory, beside pypdfium2 and pdftotext in the same run.

    cargo build --release && python3 tests/load/pdf.py --documents DIR [--quarry target/release/quarry] [--rounds 3]

`quarry debug parse` measures, parses, chunks and writes the revision folder of one file; the peers give text alone. A peer
that is not installed is left out (pypdfium2 for this Python, pdftotext on the path). A process pays for its start (word
lists, tokeniser) once, a worker that reads many documents does not: `net` leaves that out, measured on one empty page.
Also reads documents of 100 to 1,500 pages written by this script: time must grow with the pages. Prints one JSON object.
"""
import argparse
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PEER = "import sys, pypdfium2 as p\nd = p.PdfDocument(sys.argv[1])\nfor i in range(len(d)):\n    print(len(d[i].get_textpage().get_text_range()))\n"


def write_pdf(path, pages):
    """Pages of forty lines in one font, each with a heading and lines of its own."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", None, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]
    kids = []
    for n in range(1, pages + 1):
        lines = [f"BT /F 16 Tf 72 780 Td (Chapter {n} Pumps and valves) Tj ET"]
        for k in range(40):
            lines.append(f"BT /F 10 Tf 72 {750 - 14 * k} Td (Line {k} of page {n} says that the pump delivers {n * k % 97} litres of water an hour.) Tj ET")
        content = "\n".join(lines)
        objects.append(f"<</Length {len(content)}>>\nstream\n{content}\nendstream")
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {len(objects)} 0 R/Resources<</Font<</F 3 0 R>>>>>>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {pages}>>"
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = len(out)
    rows = "".join(f"{place:010d} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n".encode()
    path.write_bytes(out)


def run(command):
    """CPU seconds (user and system, children included) and peak resident bytes of one process."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, process.returncode, out


class Quarry:
    def __init__(self, program, work):
        self.program, self.work = program, work
        blank = work / "blank.pdf"
        write_pdf(blank, 1)
        self.start = min(self.read(blank)[0] for _ in range(3))

    def read(self, path):
        out = self.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        cpu, peak, code, _ = run([self.program, "debug", "parse", str(path), "--out", str(out), "--json"])
        pages = json.loads((out / "manifest.json").read_text())["source"]["pages"] if code == 0 else 0
        return cpu, peak, pages


def totals(name, rows, start=0.0):
    cpu, pages = sum(row[0] for row in rows), sum(row[2] for row in rows)
    found = {"reader": name, "documents": len(rows), "pages": pages, "cpu_seconds": round(cpu, 2), "pages_per_cpu_second": round(pages / cpu, 1),
             "peak_megabytes": round(max(row[1] for row in rows) / 1e6, 1)}
    if start:
        net = max(cpu - start * len(rows), 1e-9)
        found |= {"start_cpu_seconds": round(start, 3), "net_pages_per_cpu_second": round(pages / net, 1)}
    return found


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quarry", default="target/release/quarry")
    ap.add_argument("--documents", type=Path, required=True)
    ap.add_argument("--rounds", type=int, default=1, help="the fastest of so many runs of each file counts")
    ap.add_argument("--slowest", type=int, default=5, help="how many files are listed by their time a page")
    a = ap.parse_args()
    work = Path(tempfile.mkdtemp(prefix="quarry-pdf-"))
    try:
        quarry = Quarry(a.quarry, work)
        files = sorted(path for path in a.documents.iterdir() if path.suffix == ".pdf")
        if not files:
            sys.exit(f"no PDF in {a.documents}")
        best = lambda read, path: min((read(path) for _ in range(a.rounds)), key=lambda row: row[0])
        rows = {path: best(quarry.read, path) for path in files}
        readers = [totals("quarry", [row for row in rows.values() if row[2]], quarry.start)]
        peers = {}
        if importlib.util.find_spec("pypdfium2"):
            peers["pypdfium2"] = [sys.executable, "-c", PEER]
        if shutil.which("pdftotext"):
            peers["pdftotext"] = ["pdftotext", "-q"]
        for name, command in peers.items():
            def read(path):
                extra = ["-"] if name == "pdftotext" else []
                cpu, peak, code, _ = run([*command, str(path), *extra])
                return cpu, peak, rows[path][2] if code == 0 else 0
            readers.append(totals(name, [row for row in (best(read, path) for path in files) if row[2]]))
        slow = sorted(((row[0] - quarry.start) / row[2], path.name) for path, row in rows.items() if row[2])[::-1][: a.slowest]
        linear = []
        for pages in (100, 500, 1000, 1500):
            path = work / f"{pages}.pdf"
            write_pdf(path, pages)
            cpu, peak, read = best(quarry.read, path)
            linear.append({"pages": read, "net_milliseconds_a_page": round((cpu - quarry.start) / max(read, 1) * 1e3, 2), "peak_megabytes": round(peak / 1e6, 1)})
        model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.processor())
        print(json.dumps({
            "machine": f"{model}, {os.cpu_count()} cores", "readers": readers, "not_read": [path.name for path, row in rows.items() if not row[2]],
            "slowest": [{"document": name, "milliseconds_a_page": round(seconds * 1e3, 1)} for seconds, name in slow], "linear": linear,
        }, indent=2))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
