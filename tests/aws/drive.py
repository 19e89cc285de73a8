"""The deployed stack, driven as users, operators and bad luck do.

    localstack/start && localstack/deploy --webhooks
    cargo build --release --workspace --bin quarry --features quarry/aws
    target/venv-emulator/bin/python tests/aws/drive.py --state target/emulator/stack.json --quarry target/release/quarry [CASE…]

The runbooks' commands need the command line of AWS (`aws`) on the path.
"""

import argparse
import json
import secrets
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import faults
import road
import runbooks
from stack import Stack

# These wait more than they work and change no function's settings: they run beside the others.
BESIDE = [road.webhooks]
CASES = [
    road.every_format,
    road.a_documents_life,
    faults.doubled_and_shuffled_events,
    faults.poison_in_a_batch,
    faults.a_dead_letter_is_redriven,
    faults.killed_in_the_middle,
    faults.a_lost_message,
    faults.services_that_fail,
    runbooks.commands,
]


def driven(case, stack: Stack) -> str | None:
    """Runs one case and says how it went; what was wrong, if anything was."""
    begun = time.monotonic()
    try:
        case(stack, secrets.token_hex(3))
        print(f"{case.__name__}: ok, {time.monotonic() - begun:.1f} s", flush=True)
        return None
    except Exception:
        print(f"{case.__name__}: FAILED after {time.monotonic() - begun:.1f} s\n{traceback.format_exc()}", flush=True)
        return case.__name__


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--state", type=Path, required=True)
    arguments.add_argument("--quarry", type=Path, required=True, help="the program, built with the feature aws")
    arguments.add_argument("--stage", default="local")
    arguments.add_argument("cases", nargs="*", help="only these")
    given = arguments.parse_args()
    stack = Stack(json.loads(given.state.read_text()), given.stage, given.quarry.resolve())
    wanted = lambda case: not given.cases or case.__name__ in given.cases
    with ThreadPoolExecutor(1) as pool:
        beside = [pool.submit(driven, case, stack) for case in BESIDE if wanted(case)]
        failed = [driven(case, stack) for case in CASES if wanted(case)] + [case.result() for case in beside]
    failed = [name for name in failed if name]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    print("the stack keeps its promises")


if __name__ == "__main__":
    main()
