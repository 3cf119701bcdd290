"""Calls of the library: away from the main thread, so that Ctrl-C reaches it, and with progress.

ctypes gives the interpreter's lock away while a call runs. A signal's handler runs in the main thread
between two steps of Python, which there are none of while the main thread is in C. So a long call that
the main thread makes runs in a thread of its own; the main thread waits, and where it is interrupted
it asks the call to stop, waits until it has, and passes the interruption on.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, Optional

from . import _library as lib
from ._errors import Cancelled, Invalid

# How deep a thread is in functions of the user's that a call under way runs, such as of progress.
_back = threading.local()


def is_calling_back() -> bool:
    """Whether this thread runs a function of the user's for a call that waits for it."""
    return getattr(_back, "depth", 0) > 0


@contextmanager
def _calling_back() -> Iterator[None]:
    _back.depth = getattr(_back, "depth", 0) + 1
    try:
        yield
    finally:
        _back.depth -= 1


OUTCOMES = ("done", "some absent", "some refused", "damage found", "rebuild failed")


class Call:
    """One call under way: its cancel, its progress, and what its callbacks raised."""

    def __init__(self, progress: Any = None) -> None:
        self.cancel = lib.Cancel(0)
        self.raised: Optional[BaseException] = None
        self._bar = _make_bar(progress)
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Ask the call to end; it does within a moment."""
        self.cancel.requested = 1

    def keep(self, raised: BaseException, error: Any = None) -> int:
        """Keep what a callback raised: the call fails, and it is raised again behind it."""
        if self.raised is None:
            self.raised = raised
        self.stop()
        return lib.fail_in(error, lib.GF_ECANCELLED, f"{type(raised).__name__}: {raised}")

    def tell(self, what: str, done: int, total: int) -> None:
        """Progress, from any thread."""
        if self._bar is None:
            return
        try:
            with self._lock, _calling_back():
                self._bar(what, done, total)
        except Exception as raised:  # a callback of the library passes nothing on
            self.keep(raised)

    def run(self, function: Callable[..., int], *arguments: Any, long: bool = True) -> None:
        """Call a function of the library, whose last argument, a gf_error, is added here.

        Raises
        ------
        GrouperfishError
            The exception of the status that it returned.
        """
        error = lib.Error()
        arguments = arguments + (ctypes.byref(error),)
        try:
            if long and threading.current_thread() is threading.main_thread():
                status = self._run_beside(function, arguments)
            else:
                status = function(*arguments)
        finally:
            if self._bar is not None:
                self._bar(None, 0, 0)
        if self.raised is not None:
            raised, self.raised = self.raised, None
            try:
                raise raised
            finally:
                del raised  # its frames have this call, and the store
        lib.raise_for(status, error)

    def _run_beside(self, function: Callable[..., int], arguments: tuple) -> int:
        result: list = []
        ended = threading.Event()
        go = [True]  # who takes it decides whether the function runs

        def work() -> None:
            try:
                go.pop()
            except IndexError:  # start() was interrupted, and nobody waits
                return
            try:
                result.append(function(*arguments))
            except BaseException as raised:  # such as a wrong argument: ctypes.ArgumentError
                self.raised = raised
                result.append(lib.GF_OK)
            finally:
                ended.set()

        thread = threading.Thread(target=work, name="grouperfish", daemon=True)
        interruption, started = None, False
        while True:
            try:
                if not started:
                    started = True
                    thread.start()
                while not ended.is_set():
                    ended.wait()
                break
            except BaseException as raised:  # KeyboardInterrupt, or what a handler raises
                try:
                    go.pop()
                except IndexError:
                    pass
                else:  # the function does not run, and will not
                    raise
                interruption = interruption or raised
                self.stop()
        if interruption is not None:
            try:
                raise interruption
            finally:
                del interruption  # its frames have this call, and the store
        return result[0]


# ---- progress ------------------------------------------------------------------------------------


def _make_bar(progress: Any) -> Optional[Callable[[Optional[str], int, int], None]]:
    """A function of (phase, done, total); of (None, 0, 0) at the end. None: nothing is shown."""
    if progress is None:
        progress = _is_watched()
    if progress is False:
        return None
    if callable(progress):
        return lambda what, done, total: progress(what, done, total) if what is not None else None
    try:
        with warnings.catch_warnings():  # of a notebook that has no widgets: a line of text does
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    state: dict = {"bar": None, "what": None}

    def show(what: Optional[str], done: int, total: int) -> None:
        bar = state["bar"]
        if bar is not None and what != state["what"]:
            bar.close()
            bar = state["bar"] = None
        if what is None:
            return
        if bar is None:
            bar = state["bar"] = tqdm(desc=what, total=total or None, leave=False, delay=0.5)
            state["what"] = what
        if total and bar.total != total:
            bar.total = total
        bar.update(done - bar.n)

    return show


def _is_watched() -> bool:
    """Whether somebody looks: a terminal, or a notebook."""
    if "ipykernel" in sys.modules:
        return True
    stream = sys.stderr
    return bool(stream is not None and hasattr(stream, "isatty") and stream.isatty())


# ---- operations ----------------------------------------------------------------------------------


def _texts_of(name: str, value: Any) -> list[str]:
    """The values of an argument: none for None and False, an empty one for True, each of a list."""
    if value is None or value is False:
        return []
    if value is True:
        return [""]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [text for item in value for text in _texts_of(name, item)]
    if isinstance(value, bytes):
        raise Invalid(f"{name}: bytes are no text; decode them first")
    if hasattr(value, "isoformat"):
        return [value.isoformat()]
    return [str(value)]


class Answer(list):
    """The rows of an operation, as dictionaries; with what was told beside them.

    Attributes
    ----------
    outcome : str
        ``"done"``, ``"some absent"``, ``"some refused"``, ``"damage found"`` or ``"rebuild failed"``.
    notices : list of dict
        Each with ``reason``, ``message``, ``source``, ``line`` and ``refused``.
    file : bytes
        What the operation wrote beside its rows, such as the page of ``report``.
    """

    outcome = "done"
    notices: list
    file = b""


def ask(
    store: Optional[int],
    operation: str,
    arguments: dict,
    *,
    namespace: str = "default",
    path: str = "",
    data: Any = None,
    data_name: str = "",
    wait: float = 0.0,
    progress: Any = False,
    wants_file: bool = False,
    on_notice: Optional[Callable[[dict], None]] = None,
) -> Answer:
    """Run an operation of the operations table (docs/operations.md) by its name.

    Parameters
    ----------
    store : address of an open gf_store, or None
    arguments : dict
        By name; an underscore stands for ``-``. True is a flag that is set; a list comes in several.
    data : bytes, or iterable of bytes
        What comes with the call, such as JSON Lines for ``put``; ``data_name`` ends as its format.
    on_notice : callable, optional
        Gets each notice as it comes; what it raises ends the call, and comes out of it.
    """
    call = Call(progress)
    answer = Answer()
    answer.notices = []
    written: list[bytes] = []
    kept: list[bytes] = []  # what slices point into

    def piece(text: str) -> lib.Slice:
        try:
            kept.append(text.encode())
        except UnicodeEncodeError as bad:
            raise Invalid(f"{operation}: an argument is no valid Unicode: {bad}") from None
        return lib.slice_of(kept[-1])

    pairs = [
        (name.replace("_", "-"), text)
        for name, value in arguments.items()
        for text in _texts_of(name, value)
    ]
    items = (lib.Argument * max(len(pairs), 1))(
        *[lib.Argument(piece(name), piece(text)) for name, text in pairs]
    )

    @lib.EMIT
    def emit(_context, row, error):
        try:
            answer.append(json.loads(row.bytes()))
        except BaseException as raised:
            return call.keep(raised, error)
        return lib.GF_OK

    @lib.EMIT
    def write(_context, data, error):
        try:
            written.append(data.bytes())
        except BaseException as raised:
            return call.keep(raised, error)
        return lib.GF_OK

    @lib.NOTICE
    def notice(_context, told):
        try:
            n = told.contents
            row = {
                "reason": (n.reason or b"").decode("utf-8", "replace"),
                "message": (n.message or b"").decode("utf-8", "replace"),
                "source": n.source.text(),
                "line": n.line,
                "refused": n.refused,
            }
            answer.notices.append(row)
            if on_notice is not None:
                with _calling_back():
                    on_notice(row)
        except BaseException as raised:
            call.keep(raised)

    @lib.PROGRESS
    def tell(_context, what, phase, done, total):
        call.tell((phase or b"").decode("utf-8", "replace"), done, total)

    sink = lib.Sink(emit=emit, notice=notice)
    if wants_file:
        sink.write = write
    if progress is not False:
        sink.progress = tell
    question = lib.Ask(
        version=1,
        arguments=items,
        n_arguments=len(pairs),
        name_space=piece(namespace),
        sink=sink,
        input_name=piece(data_name),
        path=os.fsencode(path),
        wait_seconds=wait,
        cancel=ctypes.pointer(call.cancel),
    )
    if data is not None:
        question.read = _reader_of(data, call)
    result = lib.AskResult()
    call.run(
        lib.library.gf_ask_run,
        store,
        operation.encode(),
        ctypes.byref(question),
        ctypes.byref(result),
    )
    answer.outcome = OUTCOMES[result.outcome] if result.outcome < len(OUTCOMES) else "done"
    answer.file = b"".join(written)
    return answer


def _reader_of(data: Any, call: Call) -> Any:
    """A gf_ask's `read` over bytes, or over pieces of them as they come."""
    pieces: Iterable[bytes] = iter([data] if isinstance(data, (bytes, bytearray)) else data)
    left = memoryview(b"")

    @lib.READ
    def read(_context, to, n, got, error):
        nonlocal left
        try:
            while not left:
                with _calling_back():
                    following = next(pieces, None)
                if following is None:
                    got[0] = 0
                    return lib.GF_OK
                left = memoryview(following)
            some = min(len(left), n)
            ctypes.memmove(to, bytes(left[:some]), some)
            left = left[some:]
            got[0] = some
        except BaseException as raised:
            return call.keep(raised, error)
        return lib.GF_OK

    return read


def operations() -> list[dict]:
    """All operations of the operations table, each with its parameters.

    Returns
    -------
    list of dict
        ``name``, ``meaning``, ``input``, ``store``, ``changes``, ``parameters``.
    """
    call = Call(False)
    found: list[dict] = []

    @lib.TAKE
    def take(_context, row, error):
        try:
            found.append(json.loads(row.bytes()))
        except BaseException as raised:
            return call.keep(raised, error)
        return lib.GF_OK

    call.run(lib.library.gf_ask_operations, take, None, long=False)
    return found


__all__ = ["Answer", "Call", "Cancelled", "ask", "operations"]
