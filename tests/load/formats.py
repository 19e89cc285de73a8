#!/usr/bin/env python3
"""What reading documents costs, format by format, beside what Python programs take for the same files in the same run.

    cargo build --release -p quarry
    python3 -m venv target/venv-formats && target/venv-formats/bin/pip install openpyxl python-docx python-pptx 'markitdown[docx,pptx,xlsx,xls]'
    target/venv-formats/bin/python tests/load/formats.py --documents DIR [--quarry target/release/quarry] [--million]

DIR holds documents; they are grouped by extension. Every format is read in a process of its own, so that its peak memory is its
own: once to warm up, then until at least a second of processor time has gone by. A peer that is not installed is left out.
`--million` adds a workbook of 5 million cells, written here. Prints one JSON object; times are processor seconds on one core.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

GROUPS = ["docx", "pptx", "xlsx", "xlsb", "xls", "ods", "csv", "tsv", "doc", "ppt", "odt", "epub", "rtf", "eml", "html", "htm", "xml", "md", "txt", "json", "jsonl"]

# Each peer is a function over one path; run in a process of its own.
PEERS = {
    "openpyxl": (["xlsx"], """
import openpyxl
def read(path):
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return sum(1 for sheet in book for row in sheet.iter_rows(values_only=True) for value in row if value is not None)
"""),
    "python-docx": (["docx"], """
import docx
def read(path):
    document = docx.Document(path)
    return sum(len(p.text) for p in document.paragraphs) + sum(len(c.text) for t in document.tables for r in t.rows for c in r.cells)
"""),
    "python-pptx": (["pptx"], """
import pptx
def read(path):
    return sum(len(s.text_frame.text) for slide in pptx.Presentation(path).slides for s in slide.shapes if s.has_text_frame)
"""),
    "markitdown": (["docx", "pptx", "xlsx", "xls", "html", "csv", "epub"], """
import markitdown
reader = markitdown.MarkItDown(enable_plugins=False)
def read(path):
    return len(reader.convert(path).text_content)
"""),
}

RUN = """
import json, resource, sys, time
paths, least = json.loads(sys.argv[1]), float(sys.argv[2])
failures = []
for path in paths:
    try: read(path)
    except Exception as error: failures.append(f"{path}: {error!r}"[:200])
start, rounds = time.process_time(), 0
while time.process_time() - start < least:
    for path in paths:
        try: read(path)
        except Exception: pass
    rounds += 1
print(json.dumps({"documents": len(paths), "rounds": rounds, "failures": failures, "cpu_seconds": time.process_time() - start,
                  "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def write_million(path, rows=50_000, columns=100):
    """A workbook of 5 million cells: numbers, a text in every tenth column, a header."""
    letters = [(chr(65 + c // 26 - 1) if c >= 26 else "") + chr(65 + c % 26) for c in range(columns)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        package = "http://schemas.openxmlformats.org/package/2006/relationships"
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        z.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                   '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
                   '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>')
        z.writestr("_rels/.rels", f'<Relationships xmlns="{package}"><Relationship Id="m" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
        z.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Readings" sheetId="1" r:id="s"/></sheets></workbook>')
        z.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}"><Relationship Id="s" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>')
        with z.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            part.write(f'<worksheet xmlns="{main}"><sheetData>'.encode())
            for row in range(1, rows + 1):
                cells = []
                for c, letter in enumerate(letters):
                    if row == 1:
                        cells.append(f'<c r="{letter}1" t="inlineStr"><is><t>series {c}</t></is></c>')
                    elif c % 10 == 0:
                        cells.append(f'<c r="{letter}{row}" t="inlineStr"><is><t>station {row * 7 % 911}</t></is></c>')
                    else:
                        cells.append(f'<c r="{letter}{row}"><v>{(row * 31 + c * 17) % 9973 / 8}</v></c>')
                part.write(f'<row r="{row}">{"".join(cells)}</row>'.encode())
            part.write(b"</sheetData></worksheet>")


def ours(quarry, paths, least):
    """Runs with as many rounds as `least` seconds need, found by a first run of one."""
    def bench(rounds):
        done = subprocess.run([quarry, "debug", "bench", "--rounds", str(rounds), *map(str, paths)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"quarry debug bench ended with {done.returncode}: {done.stderr[-500:]}")
        return json.loads(done.stdout)
    first = bench(1)
    if first["cpu_seconds"] >= least:
        return first
    return bench(min(5000, int(least / max(first["cpu_seconds"], 0.01)) + 1))


def peer(code, paths, least):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code + RUN, json.dumps([str(p) for p in paths]), str(least)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def rates(result, size):
    total = result["documents"] * result["rounds"]
    seconds = max(result["cpu_seconds"], 1e-9)
    return {"documents_per_cpu_second": round(total / seconds, 1), "megabytes_per_cpu_second": round(size * result["rounds"] / 1e6 / seconds, 2),
            "peak_megabytes": round(result["peak_bytes"] / 1e6, 1), "failures": result["failures"]}


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.processor())
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.system()} {platform.release()}"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quarry", default="target/release/quarry")
    ap.add_argument("--documents", type=Path, required=True)
    ap.add_argument("--seconds", type=float, default=1.0, help="processor time spent on each format by each program")
    ap.add_argument("--million", action="store_true")
    a = ap.parse_args()
    by_format = {}
    for path in sorted(p for p in a.documents.rglob("*") if p.is_file()):
        extension = path.suffix.lower().lstrip(".")
        if extension in GROUPS:
            by_format.setdefault(extension, []).append(path)
    out = {"machine": machine(), "formats": {}}
    for extension in sorted(by_format, key=GROUPS.index):
        paths = by_format[extension]
        size = sum(p.stat().st_size for p in paths)
        entry = {"documents": len(paths), "megabytes": round(size / 1e6, 3), "quarry": rates(ours(a.quarry, paths, a.seconds), size)}
        for name, (reads, code) in PEERS.items():
            result = peer(code, paths, a.seconds) if extension in reads else None
            if result:
                entry[name] = rates(result, size)
        out["formats"][extension] = entry
        print(f"{extension}: {json.dumps(entry)}", file=sys.stderr)
    if a.million:
        with tempfile.TemporaryDirectory(prefix="quarry-load-") as work:
            book = Path(work) / "million.xlsx"
            write_million(book)
            start = time.perf_counter()
            result = ours(a.quarry, [book], 0)
            entry = {"cells": 5_000_000, "megabytes": round(book.stat().st_size / 1e6, 1), "cpu_seconds": round(result["cpu_seconds"], 1),
                     "peak_megabytes": round(result["peak_bytes"] / 1e6, 1), "failures": result["failures"], "seconds_of_two_readings": round(time.perf_counter() - start, 1)}
            theirs = peer(PEERS["openpyxl"][1], [book], 0.1)
            if theirs:
                entry["openpyxl"] = {"cpu_seconds": round(theirs["cpu_seconds"], 1), "peak_megabytes": round(theirs["peak_bytes"] / 1e6, 1)}
            out["five_million_cells"] = entry
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
