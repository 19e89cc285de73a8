#!/usr/bin/env python3
"""Runs every command of the README as a new user would, block by block.

    python3 tests/contract/readme.py --quarry target/release/quarry

A fenced block marked `sh` is run with bash in one shared working copy of the examples; a comment line before the fence,
`<!-- not run here: reason -->`, leaves it out (the reason is printed). `<!-- prints: text -->` after a block says what its
output must contain. `cargo run --release --` and `quarry` both mean the given program; a line ending in ` &` starts a
server that is stopped at the end.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:<!-- not run here: (?P<skip>[^>]*?) -->\n)?```sh\n(?P<body>.*?)```\n(?:<!-- prints: (?P<prints>[^>]*?) -->\n)?", re.S)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quarry", required=True, type=Path)
    a = ap.parse_args()
    work = Path(tempfile.mkdtemp(prefix="quarry-readme-"))
    shutil.copytree(TOP / "examples", work / "examples")
    shutil.copytree(TOP / "events", work / "events", dirs_exist_ok=True)
    programs = work / "bin"
    programs.mkdir()
    (programs / "quarry").symlink_to(a.quarry.resolve())
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    run = skipped = 0
    try:
        for block in BLOCK.finditer((TOP / "README.md").read_text()):
            if block["skip"]:
                print(f"not run ({block['skip']}): {block['body'].strip().splitlines()[0]}")
                skipped += 1
                continue
            script = block["body"].replace("cargo run --release --", "quarry")
            # Servers are started in the background of the block's own shell and outlive it until the end of this run.
            script = re.sub(r"^(.*[^&]) &$", r"\1 >>server.log 2>&1 & echo $! >>servers; for i in $(seq 100); do curl -sf http://127.0.0.1:8080/health >/dev/null && break; sleep 0.1; done", script, flags=re.M)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=work, env=environment, capture_output=True, text=True, timeout=300)
            if done.returncode:
                sys.exit(f"FAILED with {done.returncode}:\n{block['body']}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
            if block["prints"] and block["prints"] not in done.stdout + done.stderr:
                sys.exit(f"FAILED: does not print {block['prints']!r}:\n{block['body']}\n{done.stdout[-3000:]}")
            run += 1
    finally:
        servers = work / "servers"
        if servers.exists():
            for pid in servers.read_text().split():
                subprocess.run(["kill", pid], check=False)
        shutil.rmtree(work, ignore_errors=True)
    if not run:
        sys.exit("FAILED: the README holds no command")
    print(f"README: {run} blocks run, {skipped} left out")


if __name__ == "__main__":
    main()
