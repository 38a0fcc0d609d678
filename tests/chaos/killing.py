"""A child process in a session of its own, and its death with all that it started.

Spark's workers leave the process group of their driver, but not its session.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).parents[2]


def start(module, folder, log):
    """Starts a module as a program that writes into a log."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", module, str(folder)],
            cwd=TOP,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


def kill_session(session=0):
    """Kills a session at once, by default one's own, oneself last."""
    session = session or os.getsid(0)
    others = [number for number in members(session) if number != os.getpid()]
    for number in others:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if session == os.getsid(0):
        os.kill(os.getpid(), signal.SIGKILL)


def members(session):
    """The processes of a session; a machine with nothing on it has no `ps` to ask."""
    numbers = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [number for number in numbers if _session_of(number) == session]


def _session_of(number):
    """The session of a process; none where it has just ended."""
    try:
        return os.getsid(number)
    except ProcessLookupError:
        return None


def wait_for(told, child, seconds):
    """Waits until something is so; tells whether it was before the child ended."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if told():
            return True
        if child.poll() is not None:
            return False
        time.sleep(0.05)
    raise AssertionError(f"nothing happened in {seconds} seconds")
