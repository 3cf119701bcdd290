"""Stores and their collections: the ones that the command and the server use."""

from __future__ import annotations

import ctypes
import html
import os
import re
import threading
import warnings
import weakref
from array import array
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

from . import _arrow, _calls, _data, _files
from . import _library as lib
from ._errors import Cancelled, Closed, GrouperfishError, Invalid, NotFound
from ._plots import Plots
from ._plots.charts import Subject
from ._results import Build, Cluster, Document
from ._table import Table, optional

Ids = Union[Sequence, str, int]

# Rows of this table of the user's say which type the ids of a collection had, for who reads them.
_ID_TABLE = "python_ids"


def open(  # noqa: A001 (as the files of the language are opened)
    path: Union[str, os.PathLike],
    *,
    create: bool = True,
    read_only: bool = False,
    wait: float = 5.0,
    namespace: str = "default",
) -> "Store":
    """Open a store: a folder, the same that ``grouperfish --store PATH`` uses.

    Parameters
    ----------
    path : str or path-like
        The store's folder.
    create : bool
        Make it where there is none.
    read_only : bool
        Change nothing; several processes can read at the same time, while none writes.
    wait : float
        Seconds to wait while another process holds the store.
    namespace : str
        Whose collections are meant.

    Returns
    -------
    Store
        Close it, or use it in a ``with`` statement: while it is open, commands wait for it.

    Raises
    ------
    NotFound
        There is none, and it is not to be made.
    Locked
        Another process holds it; the message says which.
    Corrupt, Invalid, InputOutput, OutOfMemory

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open(folder.name + "/feedback.store") as store:
    ...     len(store["feedback"].put(["It crashes"], id=[7]))
    1
    """
    return Store(path, create=create, read_only=read_only, wait=wait, namespace=namespace)


def _close_handle(handle: int, process: int, users: list) -> None:
    # A child that was forked has no threads of the database, and another's locks. Under a call that
    # runs while Python ends, the store stays as it is: the lock goes with the process.
    if os.getpid() == process and not users:
        lib.library.gf_store_close(handle)


class Store:
    """An open store; ``grouperfish.open`` makes one.

    ``store["feedback"]`` is a collection, whether or not it is there already. Iterating gives the names
    of those that are. Several threads may use one store at the same time; a process that was forked
    cannot use its parent's.
    """

    def __init__(
        self,
        path: Union[str, os.PathLike, None],
        *,
        create: bool = True,
        read_only: bool = False,
        wait: float = 5.0,
        namespace: str = "default",
        archive: Optional[bytes] = None,
    ) -> None:
        self.path = None if path is None else os.fspath(path)
        self.namespace = namespace
        self._process = os.getpid()
        self._lock = threading.Condition()
        self._users: list = []  # threads of the calls that use the store at the moment
        self._handle: Optional[int] = None
        call = _calls.Call(False)
        give = _giver(archive, call) if archive is not None else None
        options = lib.StoreOptions(
            version=1,
            create=create,
            wait_seconds=wait,
            purpose=b"in Python",
            cancel=ctypes.pointer(call.cancel),
            read_only=read_only,
            in_memory=path is None,
            small_buffers=False,
            archive=ctypes.cast(give, ctypes.c_void_p) if give else None,
        )
        handle = ctypes.c_void_p()
        encoded = None if self.path is None else os.fsencode(self.path)
        try:
            call.run(lib.library.gf_store_open, encoded, ctypes.byref(options), ctypes.byref(handle))
        except BaseException:  # an interruption may come when the store is open
            if handle.value:
                lib.library.gf_store_close(handle)
            raise
        self._handle = handle.value
        self._close = weakref.finalize(
            self, _close_handle, self._handle, self._process, self._users
        )

    # ---- life ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the store, once calls of other threads have ended. Closing again does nothing.

        Called under a call of the same thread (by a signal's handler, or what tells of progress), it
        does not wait for it: the store is closed once that call has ended.
        """
        if os.getpid() != self._process:
            return
        with self._lock:
            self._handle = None
            if self._users and (threading.get_ident() in self._users or _calls.is_calling_back()):
                return  # who waited here for that call would wait for himself
            while self._users:
                self._lock.wait()
        self._close()  # once: also where an earlier close was interrupted

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @contextmanager
    def _use(self) -> Iterator[int]:
        """The open store, which is not closed meanwhile."""
        if os.getpid() != self._process:
            raise Closed(
                "this estimator was fitted by the process that this one was forked from, whose memory has "
                "it: pickle it there and unpickle it here (as joblib and multiprocessing do with what "
                "they are given), or fit it here"
                if self.path is None
                else "this store was opened by the process that this one was forked from: open it here, "
                "once it is closed there"
            )
        me = threading.get_ident()
        try:
            with self._lock:
                # First: between two steps a signal's handler may close the store.
                self._users.append(me)
                handle = self._handle
            if handle is None:
                raise Closed(f"the store {self._shown()} is closed")
            yield handle
        finally:
            with self._lock:
                if me in self._users:
                    self._users.remove(me)
                last = self._handle is None and not self._users
                self._lock.notify_all()
            if last:
                self._close()  # a close that could not wait

    def _shown(self) -> str:
        return "in memory" if self.path is None else f"at {self.path}"

    def __reduce__(self) -> Any:
        raise TypeError("a store cannot be pickled: open it by its path, store.path")

    # ---- operations ----------------------------------------------------------------------------

    def run(self, operation: str, *, data: Any = None, **arguments: Any) -> _calls.Answer:
        """Run any operation of the table that the command, the socket and HTTP share.

        Parameters
        ----------
        operation : str
            Such as ``"clusters"`` or ``"config set"``; ``grouperfish.operations()`` lists them, and
            docs/operations.md says what goes in and comes out.
        data : bytes or iterable of bytes
            What comes with the call, such as JSON Lines.
        **arguments
            By name, an underscore for ``-``: ``min_score=0.5``. True sets a flag; a list comes in
            several. ``data_name``, ``progress``, ``wants_file`` and ``on_notice`` are of the call itself.

        Returns
        -------
        Answer
            A list of dictionaries, with ``outcome``, ``notices`` and ``file``.
        """
        names = ("data_name", "progress", "wants_file", "on_notice")
        own = {n: arguments.pop(n) for n in names if n in arguments}
        with self._use() as handle:
            return _calls.ask(
                handle,
                operation,
                arguments,
                namespace=self.namespace,
                path=self.path or "",
                data=data,
                **own,
            )

    def status(self) -> dict:
        """What is in the store, as ``grouperfish status`` tells it."""
        return self.run("status")[0]

    def backup(self, path: Union[str, os.PathLike]) -> dict:
        """Copy the store, as it is now, into a folder that is not there yet."""
        return self.run("backup", to=os.path.abspath(os.fspath(path)))[0]

    def _archive(self) -> bytes:
        """All of it as one piece of bytes, which a store in memory can begin as."""
        call = _calls.Call(False)
        pieces: list[bytes] = []

        @lib.TAKE
        def take(_context, data, error):
            try:
                pieces.append(data.bytes())
            except BaseException as raised:
                return call.keep(raised, error)
            return lib.GF_OK

        with self._use() as handle:
            call.run(lib.library.gf_backup_archive, handle, take, None, ctypes.byref(call.cancel))
        return b"".join(pieces)

    # ---- collections ---------------------------------------------------------------------------

    def collections(self) -> Table:
        """A table of the collections: name, documents, when they were changed, what is served."""
        return Table.from_rows(self.run("collection list"), "collections")

    def __getitem__(self, name: str) -> "Collection":
        return Collection(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter([row["collection"] for row in self.run("collection list")])

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __len__(self) -> int:
        return len(self.run("collection list"))

    def __bool__(self) -> bool:
        return True

    def __delitem__(self, name: str) -> None:
        """Delete a collection with its documents, builds and settings; NotFound."""
        self.run("collection delete", collection=name)

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else "open"
        return f"<grouperfish.Store {self._shown()}, {state}>"

    def _repr_html_(self) -> str:
        if self._handle is None:
            return html.escape(repr(self))
        return f"<b>{html.escape(self._shown())}</b>" + self.collections()._repr_html_()


def _named(cluster: Union[int, str]) -> Union[int, str]:
    """A cluster as operations take it: its id, or ``label:`` and its label; a group's id, such as g12, as it is."""
    if isinstance(cluster, str):
        return cluster if re.fullmatch(r"g[1-9][0-9]*", cluster) else f"label:{cluster}"
    return int(cluster)


def _warn_of_lost(notices: list) -> None:
    for told in notices:
        if told["reason"] == "lost":
            warnings.warn(told["message"], stacklevel=3)


def _giver(archive: bytes, call: _calls.Call) -> Any:
    @lib.GIVE
    def give(_context, take, taker, error):
        try:
            for at in range(0, len(archive), 1 << 20):
                piece = archive[at : at + (1 << 20)]
                status = take(taker, lib.slice_of(piece), error)
                if status != lib.GF_OK:
                    return status
        except BaseException as raised:
            return call.keep(raised, error)
        return lib.GF_OK

    return give


class Collection(Plots):
    """A collection of a store, seen by one of its configurations; ``store["feedback"]`` gives it.

    What changes it gives it back, so that calls can be chained:
    ``store["feedback"].put(df, id="ticket", text="body").rebuild(k=40).clusters()``.

    Parameters
    ----------
    store : Store
    name : str
    config : str
        The configuration whose clusters are read; ``collection.with_config("fine")`` is another's.
    ids : type, optional
        ``int`` or ``str``: what ids are given back as. What was put from Python is remembered; else
        they are strings.
    """

    def __init__(
        self, store: Store, name: str, config: str = "default", ids: Optional[type] = None
    ) -> None:
        if not isinstance(name, str) or not name:
            raise Invalid(f"a collection's name is a string, not {name!r}")
        self.store = store
        self.name = name
        self.config_name = config
        self._ids = ids
        self.last_put: dict = {}

    def with_config(self, config: str) -> "Collection":
        """The same collection by another configuration."""
        return Collection(self.store, self.name, config, self._ids)

    def run(self, operation: str, **arguments: Any) -> _calls.Answer:
        """``Store.run`` with this collection (and this configuration, unless another is named)."""
        return self.store.run(operation, collection=self.name, **arguments)

    def _by_config(self, operation: str, **arguments: Any) -> _calls.Answer:
        return self.run(operation, config=self.config_name, **arguments)

    # ---- ids -----------------------------------------------------------------------------------

    @property
    def id_type(self) -> type:
        """``int`` or ``str``."""
        if self._ids is None:
            self._ids = self._read_id_type()
        return self._ids

    def _read_id_type(self) -> type:
        try:
            rows = self.store.run(
                "table get",
                table=_ID_TABLE,
                key=[self.store.namespace, self.name],
                column="main:id_type",
            )
        except NotFound:
            return str
        return int if rows and rows[0].get("value") == "int" else str

    def _remember_ids(self, kind: type, was_empty: bool) -> None:
        """Ids are whole numbers as long as all that were ever put were."""
        known = self._read_id_type()
        if kind is int and known is str and not was_empty:
            return
        self._ids = kind
        if kind is not known:
            self._write_id_type(kind)

    def _write_id_type(self, kind: type) -> None:
        key = [self.store.namespace, self.name]
        values = {"table": _ID_TABLE, "key": key, "set": f"main:id_type={kind.__name__}"}
        try:
            self.store.run("table put", **values)
        except NotFound:
            parts = ["namespace:text", "collection:text"]
            self.store.run(
                "table create", table=_ID_TABLE, key=parts, family="main", column="main:id_type=text"
            )
            self.store.run("table put", **values)

    def _to_ids(self, ids: list) -> list:
        if self.id_type is not int:
            return ids
        try:
            numbers = [None if one is None else int(one) for one in ids]
        except ValueError:
            return ids  # a document that came another way
        # "007" is another id than 7.
        same = all(one is None or str(number) == one for one, number in zip(ids, numbers))
        return numbers if same else ids

    def _number(self) -> dict:
        """The argument of operations that has ids come as numbers, where they are."""
        return {"id_type": "number"} if self.id_type is int else {}

    # ---- documents -----------------------------------------------------------------------------

    def put(
        self,
        data: Any,
        *,
        id: Any = None,
        text: str = "text",
        time: Optional[str] = None,
        lang: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        vectors: Any = None,
        near: Optional[float] = None,
        errors: str = "raise",
        progress: Any = None,
    ) -> "Collection":
        """Put documents; one whose id is there already is replaced.

        Parameters
        ----------
        data : DataFrame, Arrow table, dict of columns, list of dict, texts, or the path of a file
            Anything with ``__arrow_c_stream__`` is read as it is. Texts alone are a list, an array or
            a Series of strings. A file is read by its name's ending: Parquet, Feather and Arrow by
            pyarrow (Parquet also by pandas with fastparquet); workbooks (.xlsx), CSV, JSON Lines and
            all else that the command reads by the engine, which keeps ids as strings.
        id : str or sequence, optional
            The column of ids (strings or whole numbers), or the ids themselves. Without: the column
            ``id``, else the index of a DataFrame where it is not just numbered.
        text : str
            The column of texts.
        time, lang : str, optional
            The columns of times (timestamps, dates, ISO 8601, Unix time) and languages.
        fields : list of str, optional
            Further columns to keep; without all of them.
        vectors : array of shape (rows, columns), optional
            A row of numbers for each document: where a collection is clustered by given rows
            (``rebuild(matrix=...)``), a document that is put later has its place by its vector.
        near : float, optional
            Count the documents whose similarity to one that was there already, or comes earlier, is so much
            (such as .8): ``last_put["near_duplicates"]``. ``nearest_earlier`` tells which these are.
        errors : {"raise", "skip"}
            What becomes of a row without a text or an id, and of one that is no text: an exception,
            before anything is stored (of an Arrow stream and a file rows before it may be); or a warning.
        progress : bool or callable, optional
            As of ``rebuild``.

        Returns
        -------
        Collection
            This one; ``last_put`` has the counts: rows, refused, new, changed, unchanged, bad_times.

        Raises
        ------
        Invalid
            A column is missing or of a wrong type, ids are mixed or twice, a row is no document.
        Cancelled, Locked, InputOutput, OutOfMemory, Closed
        OSError, ImportError
            A file cannot be read; what reads it is not installed, and the message says what does.
        """
        path = _files.path_of(data)
        if path is not None and not _files.is_columnar(path):
            if vectors is not None or not (id is None or isinstance(id, str)):
                raise Invalid("ids and vectors of a file are columns of it: id=\"ticket\"")
            names = {"id": id, "text": text if text != "text" else None, "time": time, "lang": lang}
            names["near"] = near
            return self._put_file(path, names, fields, errors, progress)
        if path is not None:
            data = _files.read_columnar(path)
        source = _data.source_of_documents(
            data,
            id=id,
            text=text,
            time=time,
            lang=lang,
            fields=fields,
            errors=errors,
            vectors=vectors,
        )
        if near is not None and source.ids is None:
            raise Invalid("near needs the ids of the rows: put columns, or ask nearest_earlier(ids) afterwards")
        was_empty = source.id_kind is int and len(self) == 0
        self._put(source, errors, fields, progress)
        if source.id_kind is not None and self.last_put["rows"] > self.last_put["refused"]:
            self._remember_ids(source.id_kind, was_empty)
        if near is not None:
            ids = [one for i, one in enumerate(source.ids) if i not in source.refused]
            self.last_put["near_duplicates"] = len(self._with_build(ids, near))
        return self

    def _with_build(self, ids: list, near: float) -> list:
        """What ``nearest_earlier`` finds; nothing, and a warning, where there is no build."""
        try:
            return [one for one in self.nearest_earlier(ids, near)["near"] if one is not None]
        except NotFound as none:
            warnings.warn(f"near: {none}", stacklevel=4)
            return []

    def _put_file(self, path, names, fields, errors, progress) -> "Collection":
        """Records of a file that the engine reads."""
        if errors not in ("raise", "skip"):
            raise Invalid(f'errors is "raise" or "skip", not {errors!r}')
        refused: list = []

        def notice(told: dict) -> None:
            if not told["refused"]:
                return
            line = f":{told['line']}" if told["line"] else ""
            refused.append(f"{told['source']}{line}: {told['message']}")
            if errors == "raise":
                raise Invalid(f'{refused[0]}; errors="skip" leaves such records out')

        if fields is not None:
            _data.check_fields(fields)
            names["fields"] = list(fields) or names["text"] or "text"  # the text is there in any case: no other
        for name, given in (("text", names["text"]), ("fields", fields)):
            for one in [given] if isinstance(given, str) else given or ():
                if "," in one:
                    raise Invalid(
                        f"{name}: of a file, the column {one!r} cannot be named, for its comma; rename it, or "
                        "read the file first: put(pandas.read_csv(path))"
                    )
        answer = self.run(
            "put",
            data=_files.pieces_of(path),
            data_name=os.path.basename(path),
            progress=progress,
            on_notice=notice,
            **names,
        )
        row = answer[-1] if answer else {}
        self.last_put = {
            "rows": row.get("read", 0),
            **{n: row.get(n, 0) for n in ("refused", "new", "changed", "unchanged", "bad_times")},
        }
        if "near_duplicates" in row:
            self.last_put["near_duplicates"] = row["near_duplicates"]
        if refused:
            warnings.warn(
                f"{row['refused']:,} of {row['read']:,} records were left out; {refused[0]}", stacklevel=3
            )
        return self

    def _put(self, source, errors="raise", fields=None, progress=None, first_id=0) -> dict:
        call = _calls.Call(progress)
        reasons: list = []

        @lib.REFUSED
        def refused(_context, row, _reason, message, error):
            try:
                why = source.refused.get(row) or message.decode("utf-8", "replace")
                if errors == "raise":
                    return lib.fail_in(error, lib.GF_EINVAL, f"row {row}: {why}")
                if len(reasons) < 20:
                    reasons.append((row, why))
            except BaseException as raised:
                return call.keep(raised, error)
            return lib.GF_OK

        @lib.ARROW_PROGRESS
        def tell(_context, rows):
            call.tell("reading", rows, 0)

        options = _arrow_options(source, call, refused, tell)
        options.first_id = first_id
        if fields is not None and source.maker is None:
            names = (ctypes.c_char_p * max(len(fields), 1))(*[f.encode() for f in fields])
            options.fields = names
            options.n_fields = len(fields)
            options.no_fields = not fields
        counts = lib.ArrowCounts()
        try:
            with self.store._use() as handle, _Names(self.store.namespace, self.name) as names_of:
                call.run(
                    lib.library.gf_arrow_put,
                    handle,
                    names_of.place,
                    ctypes.byref(source.stream),
                    ctypes.byref(options),
                    ctypes.byref(counts),
                )
        except GrouperfishError as failure:
            _raise_own(source, failure)
            raise
        finally:
            source.release()
            self.last_put = {
                "rows": counts.rows,
                "refused": counts.refused,
                "new": counts.put.created,
                "changed": counts.put.changed,
                "unchanged": counts.put.unchanged,
                "bad_times": counts.bad_times,
            }
        if reasons:
            row, why = reasons[0]
            warnings.warn(
                f"{counts.refused:,} of {counts.rows:,} rows were left out; row {row}: {why}",
                stacklevel=3,
            )
        return self.last_put

    def delete(
        self,
        ids: Optional[Ids] = None,
        *,
        where: Optional[Sequence[str]] = None,
        before: Any = None,
        purge: bool = False,
    ) -> "Collection":
        """Delete documents by their ids, or by a choice: ``where=["stars<3"]``, ``before="30d"``."""
        if ids is None and where is None and before is None:
            raise Invalid("delete needs ids, where or before; del store[name] deletes all")
        data = None
        if ids is not None:
            listed = [ids] if isinstance(ids, (str, int)) else list(ids)
            if not listed:
                return self
            names = [str(one) for one in listed]
            # One on each line, but for ids that a line cannot have.
            if any(set(name) & {"\n", "\r", "\ufeff"} for name in names):
                self.run("delete", id=names, where=where, before=before, purge=purge)
                return self
            data = "".join(name + "\n" for name in names).encode()
        self.run("delete", data=data, where=where, before=before, purge=purge)
        return self

    def __len__(self) -> int:
        """How many documents it has; 0 where it is not there."""
        try:
            return self.run("collection show")[0]["size"]
        except NotFound:
            return 0

    def __bool__(self) -> bool:
        return True

    def doc(self, id: Union[str, int], *, why: bool = False, terms: int = 10) -> dict:
        """A document with its places, and with ``why`` the terms that put it there; NotFound."""
        more = {"why": True, "terms": terms} if why else {}
        return Document(self.run("doc", id=str(id), **more, **self._number())[0])

    def __contains__(self, id: object) -> bool:
        try:
            self.run("doc", id=str(id))
        except NotFound:
            return False
        return True

    # ---- clustering ----------------------------------------------------------------------------

    def config(self, **settings: Any) -> Any:
        """The configuration's settings; or, with settings given, set them, and give this back.

        ``c.config(k=40, ngrams="1-2")`` sets two of the keys that docs/configuration.md lists; None
        resets one. ``c.config()`` is a table of all of them.
        """
        if not settings:
            return Table.from_rows(self._by_config("config show"), "settings")
        pairs = _pairs(settings)
        if len(self) == 0:
            try:
                self.run("collection create")
            except GrouperfishError:
                pass  # it is there, and empty
        self._by_config("config set", set=pairs)
        return self

    def rebuild(
        self,
        *,
        force: bool = False,
        start: Optional[str] = None,
        threads: Optional[int] = None,
        memory: Union[int, str, None] = None,
        matrix: Any = None,
        ids: Optional[Sequence] = None,
        progress: Any = None,
        **settings: Any,
    ) -> "Collection":
        """Cluster the documents, and have the result served.

        Parameters
        ----------
        force : bool
            Also where nothing has changed.
        start : {"served", "fresh"}, optional
            Go on from the clusters that are served, which keep their ids, or begin anew.
        threads, memory : int, optional
            One per processor; the bytes that it may take (or ``"2G"``).
        matrix : array or scipy sparse matrix of shape (rows, columns), optional
            Cluster these rows (embeddings) in place of the texts' terms.
        ids : sequence, optional
            With matrix: the id of each row's document.
        progress : bool or callable, optional
            None shows tqdm's bar on a terminal and in a notebook; a function gets (phase, done, total).
        **settings
            Of this build alone, over those of the configuration, which stays as it is:
            ``rebuild(k=40)``. ``config`` sets what lasts.

        Returns
        -------
        Collection
            This one; ``build()`` tells of the build. Edits that it could not keep are told by warnings.
        """
        if matrix is None:
            answer = self._by_config(
                "rebuild",
                set=_pairs(settings) or None,
                force=force,
                start=start,
                threads=threads,
                memory=memory,
                progress=progress,
            )
            _warn_of_lost(answer.notices)
        else:
            self._rebuild_matrix(matrix, ids, threads, start, progress, settings)
            for edit in self._by_config("edits"):
                if not edit["holds"]:
                    warnings.warn(
                        f"edit {edit['edit']} ({edit['kind']}) could not be kept: {edit['lost']}", stacklevel=2
                    )
        return self

    def within(self, cluster: Union[int, str], *, k: Optional[int] = None, config: Optional[str] = None) -> "Collection":
        """Cluster the documents of one cluster, or of a group, by themselves.

        Parameters
        ----------
        cluster : int or str
            Its id, 14, or a group's, ``"g3"``.
        k : int, optional
            Into so many clusters.
        config : str, optional
            The name of the configuration that it becomes; ``"default-14"``.

        Returns
        -------
        Collection
            This one, by that configuration.
        """
        where = f"{self.config_name}:{cluster}"
        row = self.run("rebuild", within=where, k=k, config=config)[0]
        return self.with_config(row["configuration"])

    def _rebuild_matrix(self, matrix, ids, threads, start, progress, settings) -> None:
        from . import _matrix

        if ids is None:
            raise Invalid("rows of a matrix need the ids of their documents: rebuild(matrix=m, ids=...)")
        rows = _matrix.rows_of(matrix, [str(one) for one in ids])
        call = _calls.Call(progress)

        @lib.REBUILD_PROGRESS
        def tell(_context, _where, phase, done, total):
            call.tell((phase or b"").decode(), done, total)

        starts = {None: 0, "served": 1, "fresh": 2}
        if start not in starts:
            raise Invalid(f'start is "served" or "fresh", not {start!r}')
        options = lib.RebuildOptions(
            version=1,
            start=starts[start],
            matrix=ctypes.pointer(rows.matrix),
            threads=threads or 0,
            cancel=ctypes.pointer(call.cancel),
            progress=tell,
        )
        result = lib.RebuildResult()
        with self.store._use() as handle, _Names(self.store.namespace, self.name) as names:
            pairs = [lib.Pair(names.slice(key), names.slice(_setting(value))) for key, value in settings.items()]
            options.set = (lib.Pair * len(pairs))(*pairs)
            options.n_set = len(pairs)
            call.run(
                lib.library.gf_rebuild,
                handle,
                names.place,
                names.slice(self.config_name),
                ctypes.byref(options),
                ctypes.byref(result),
            )
        if result.unknown:
            warnings.warn(
                f"{result.unknown:,} rows are of no document of {self.name!r}: they were left out",
                stacklevel=4,
            )

    def build(self, build: Optional[int] = None) -> Build:
        """The build that is served, or a kept one by its number (``builds()["build"]``); NotFound.

        Its charts (``plot_sizes`` and so on) are of that build.
        """
        for row in self._by_config("builds"):
            if row.get("served") if build is None else row["build"] == build:
                return Build(row, self)
        if build is not None:
            raise NotFound(f"collection {self.name!r} keeps no build {build}: builds() lists them")
        raise NotFound(f"collection {self.name!r} has no build yet: rebuild() makes one")

    def builds(self) -> Table:
        """The builds that are kept, newest first."""
        return Table.from_rows(self._by_config("builds"), "builds")

    # ---- clusters ------------------------------------------------------------------------------

    def clusters(self, by: Optional[str] = None, **arguments: Any) -> Table:
        """The clusters, largest first; or, with ``by="week"``, how they grow and shrink over time.

        ``tree=True``, ``pending=True``, ``min_score=0.3``: as docs/operations.md has ``clusters``.
        """
        rows = self._by_config("clusters", by=by, **arguments)
        return Table.from_rows(rows, "clusters", ("cluster", "label", "size", "share"))

    def cluster(self, cluster: Union[int, str], *, docs: int = 10, **arguments: Any) -> Cluster:
        """One cluster by its id or its label: its terms, its best documents.

        A group of clusters by its id, such as ``"g12"`` (``clusters(levels=[5, 20])`` shows them): its clusters,
        its best documents.
        """
        row = self._by_config("cluster", cluster=_named(cluster), docs=docs, **self._number(), **arguments)[0]
        return Cluster(row)

    def members(self) -> Table:
        """Every document of the build with its cluster, by id.

        Returns
        -------
        Table
            id, cluster, label, score, runner_up, runner_up_score, replaced. A document without any
            term has None as its cluster.
        """
        call = _calls.Call(False)
        with self._view() as view:
            out = _arrow.ArrowArrayStream()
            call.run(
                lib.library.gf_arrow_memberships,
                view,
                ctypes.byref(call.cancel),
                ctypes.byref(out),
            )
        batch = _arrow.Batch(out)
        columns = {"id": self._to_ids(batch.texts("id"))}
        columns.update(_places(batch))
        columns["replaced"] = batch.flags("replaced")
        return Table(columns, "documents")

    def assign(self, data: Any, *, errors: str = "raise", threads: int = 0) -> Table:
        """The clusters of texts (or, of a build of embeddings, of rows) that are not stored.

        Returns
        -------
        Table
            cluster, label, score, runner_up, runner_up_score, and of the cluster size, status, owner,
            link, note: one row for each, in their order. What nobody has noted of a cluster is None.
        """
        from . import _matrix

        with self._view() as view:
            if _matrix.is_matrix(data):
                return _assign_rows(view, _matrix.rows_of(data, None), threads)
            source, _ = _data.source_of_texts(data, errors)
            call = _calls.Call(False)
            options, hold = _assign_options(source, call, errors)
            out = _arrow.ArrowArrayStream()
            try:
                call.run(
                    lib.library.gf_arrow_assign,
                    view,
                    ctypes.byref(source.stream),
                    ctypes.byref(options),
                    threads,
                    ctypes.byref(out),
                )
            except GrouperfishError as failure:
                _raise_own(source, failure)
                raise
            finally:
                source.release()
            del hold
        return Table(_places(_arrow.Batch(out)), "texts")

    def similarities(
        self, data: Any, *, errors: str = "raise", threads: int = 0
    ) -> tuple[memoryview, int]:
        """The similarity of texts to every cluster, by rising ids of clusters.

        Returns
        -------
        values : memoryview of float
            One row behind the other, 0 to 1; ``numpy.asarray(values).reshape(-1, k)``.
        k : int
            Clusters.
        """
        with self._view() as view:
            source, _ = _data.source_of_texts(data, errors)
            call = _calls.Call(False)
            options, hold = _assign_options(source, call, errors)
            out = _arrow.ArrowArrayStream()
            try:
                call.run(
                    lib.library.gf_arrow_similarities,
                    view,
                    ctypes.byref(source.stream),
                    ctypes.byref(options),
                    threads,
                    ctypes.byref(out),
                )
            except GrouperfishError as failure:
                _raise_own(source, failure)
                raise
            finally:
                source.release()
            del hold
        batch = _arrow.Batch(out)
        values = batch.inner("similarity")
        return values, len(values) // batch.rows if batch.rows else 0

    def centers(self, build: int = 0) -> "Centers":
        """The centres of the clusters, as sparse rows over the terms; with build of a kept one."""
        with self._view(build) as view:
            return Centers(view)

    def rows(self) -> tuple[Any, list]:
        """The rows that were clustered: TF-IDF of the texts, or the vectors that were given.

        Returns
        -------
        rows : scipy.sparse.csr_matrix of shape (documents, terms), or numpy array
            Each of unit length; that of a document without any term is empty. The columns are those of
            ``centers()``, which has the terms. Dense vectors are as the build keeps them, a byte a column.
        ids : list
            Of the documents, in the order of the rows.
        """
        from . import _matrix

        answer = self._by_config("export", matrix=True, wants_file=True)
        rows, ids = _matrix.rows_of_file(answer.file)
        return rows, self._to_ids(ids)

    @contextmanager
    def _view(self, build: int = 0) -> Iterator[ctypes.c_void_p]:
        view = ctypes.c_void_p()
        call = _calls.Call(False)
        with self.store._use() as handle, _Names(self.store.namespace, self.name) as names:
            call.run(
                lib.library.gf_view_open,
                handle,
                names.place,
                names.slice(self.config_name),
                build,
                ctypes.byref(view),
                long=False,
            )
            try:
                yield view
            finally:
                lib.library.gf_view_close(view)

    def label(self, cluster: int, label: str = "") -> "Collection":
        """Call a cluster so from now on; an empty label gives it back its own."""
        self._by_config("label", cluster=cluster, text=label or None, unpin=not label)
        return self

    # ---- edits: what a person changes, obeyed by each rebuild (docs/edits.md) -------------------

    def _edit(self, operation: str, **arguments: Any) -> "Collection":
        self._by_config(operation, **arguments)
        return self

    def merge(self, clusters: Iterable[Union[int, str]], **arguments: Any) -> "Collection":
        """Merge clusters into the first of them, whose id stays.

        Clusters are ids or labels. Here and in what follows ``by`` and ``reason`` say who
        and why; the served build is changed at once, and rebuilds obey (docs/edits.md).
        """
        first, *others = [_named(cluster) for cluster in clusters]
        return self._edit("cluster merge", cluster=first, others=others, **arguments)

    def split(self, cluster: Union[int, str], k: int = 2, **arguments: Any) -> "Collection":
        """Split a cluster into k; the largest part keeps its id."""
        return self._edit("cluster split", cluster=_named(cluster), k=k, **arguments)

    def move(
        self, id: Union[str, int], cluster: Union[int, str], **arguments: Any
    ) -> "Collection":
        """Put a document into a cluster, whichever centre is nearest."""
        return self._edit("doc move", id=str(id), cluster=_named(cluster), **arguments)

    def keep(self, id: Union[str, int], **arguments: Any) -> "Collection":
        """Keep a document in the cluster that it is in."""
        return self._edit("doc keep", id=str(id), **arguments)

    def hide(self, cluster: Union[int, str], **arguments: Any) -> "Collection":
        """Leave a cluster out of ``clusters()``, unless ``hidden=True`` asks for all; see ``show``."""
        return self._edit("cluster hide", cluster=_named(cluster), **arguments)

    def show(self, cluster: Union[int, str], **arguments: Any) -> "Collection":
        """Have a hidden cluster in lists again."""
        return self._edit("cluster show", cluster=_named(cluster), **arguments)

    def lock(self, cluster: Union[int, str], **arguments: Any) -> "Collection":
        """Keep a cluster's centre where it is; see ``unlock``."""
        return self._edit("cluster lock", cluster=_named(cluster), **arguments)

    def unlock(self, cluster: Union[int, str], **arguments: Any) -> "Collection":
        """Let a locked cluster's centre move again."""
        return self._edit("cluster unlock", cluster=_named(cluster), **arguments)

    def rename(self, cluster: Union[int, str], text: str, **arguments: Any) -> "Collection":
        """Call a cluster otherwise; ``undo`` gives back what it was called before."""
        return self._edit("rename", cluster=_named(cluster), text=text, **arguments)

    def note(self, cluster: Union[int, str], **arguments: Any) -> "Collection":
        """Note a cluster's ``status``, ``owner``, ``link`` and ``note``; ``clear`` names what goes."""
        return self._edit("cluster set", cluster=_named(cluster), **arguments)

    def add_topic(
        self,
        name: Optional[str] = None,
        words: Optional[str] = None,
        like: Optional[Iterable[Union[int, str]]] = None,
        from_field: Optional[str] = None,
        **arguments: Any,
    ) -> "Collection":
        """Add a topic by ``words``, by ids of documents that are ``like`` it, or by a field's values.

        The next rebuild grows it.
        """
        if like is not None:
            arguments["like"] = [str(one) for one in like]
        return self._edit("topic add", name=name, words=words, from_field=from_field, **arguments)

    def delete_topic(self, name: str, **arguments: Any) -> "Collection":
        """Delete a topic: the next rebuild makes no such cluster."""
        return self._edit("topic delete", name=name, **arguments)

    def topics(self) -> Table:
        """The topics: name, cluster, documents, threshold, whether a rebuild is owed."""
        return Table.from_rows(self._by_config("topic list"), "topics")

    def watch_add(
        self,
        when: str,
        post: Optional[str] = None,
        exec: Optional[str] = None,
        mail: Union[str, os.PathLike, None] = None,
        secret_file: Union[str, os.PathLike, None] = None,
    ) -> dict:
        """Have alerts of what is new or rises (docs/alerts.md); the rule, with its number.

        Give one of ``post`` (an address), ``exec`` (a command) and ``mail`` (a file of mail).
        """
        way = {"post": post, "exec": exec, "mail": mail, "secret_file": secret_file}
        given = {name: os.fspath(value) for name, value in way.items() if value is not None}
        return self._by_config("watch add", when=when, **given)[0]

    def watches(self) -> Table:
        """The rules that make alerts: watch, when, way, target, signed, since, away."""
        return Table.from_rows(self._by_config("watch list"), "watches")

    def watch_delete(self, watch: int) -> "Collection":
        """Delete a rule; its alerts that wait are not sent."""
        return self._edit("watch delete", watch=watch)

    def watch_run(self) -> dict:
        """Look once at what is new, and send alerts: how many there are, and what came of them."""
        return self._by_config("watch run")[0]

    def alerts(self, after: Optional[int] = None) -> Table:
        """What watches told, oldest first, with state and tries; those of numbers above ``after``."""
        return Table.from_rows(self._by_config("alerts", after=after), "alerts")

    def edits(self) -> Table:
        """What people changed, oldest first: number, kind, who, when, why, whether it holds."""
        return Table.from_rows(self._by_config("edits"), "edits")

    def undo(self, edit: Optional[int] = None) -> "Collection":
        """Take an edit back, the last one unless a number is given.

        A warning says where that shows with the next rebuild only: the edit was made on an earlier build.
        """
        row = self._by_config("undo", edit=edit)[0]
        if row["waits"]:
            warnings.warn(
                f"edit {row['edit']} was made on an earlier build: the next rebuild takes it back", stacklevel=2
            )
        return self

    def diff(self, **arguments: Any) -> Table:
        """What the build that is served changed against the one before it.

        Edits that the build could not keep are told by warnings, and listed by ``edits()``.
        """
        rows = self._by_config("diff", **self._number(), **arguments)
        _warn_of_lost(rows.notices)
        return Table.from_rows(rows, "changes")

    def search(self, query: str, **arguments: Any) -> Table:
        """Documents by words, ``"phrases"``, ``prefixes*`` and ``-exclusions``, best first."""
        rows = self._by_config("search", query=query, **self._number(), **arguments)
        return Table.from_rows(rows, "hits")

    def similar(self, id: Union[str, int], **arguments: Any) -> Table:
        """Documents that are like one, best first."""
        rows = self._by_config("similar", id=str(id), **self._number(), **arguments)
        return Table.from_rows(rows, "documents")

    def duplicates(self, **arguments: Any) -> Table:
        """Groups of documents that are nearly the same, each behind the earliest of them."""
        rows = self._by_config("duplicates", **self._number(), **arguments)
        return Table.from_rows(rows, "documents")

    def nearest_earlier(self, ids: Ids, min: float = 0.8, *, threads: int = 0) -> Table:
        """For each of some documents the nearest that is not among them, or that comes before it there.

        Returns
        -------
        Table
            id, near, score: one row for each id, in their order; None where nothing is so near.
        """
        listed = [ids] if isinstance(ids, (str, int)) else list(ids)
        names = list(dict.fromkeys(str(one) for one in listed))
        kept = [name.encode() for name in names]
        slices = (lib.Slice * (len(kept) or 1))(*[lib.slice_of(name) for name in kept])
        near: list = [None] * len(names)
        scores: list = [None] * len(names)
        call = _calls.Call(False)

        @lib.VISIT_NEAREST
        def visit(_context, number, id, cosine, error):
            try:
                near[number], scores[number] = id.text(), cosine
            except BaseException as raised:
                return call.keep(raised, error)
            return lib.GF_OK

        with self.store._use() as handle, _Names(self.store.namespace, self.name) as names_of:
            options = lib.NearestEarlierOptions(
                version=1,
                configuration=names_of.slice(self.config_name),
                ids=slices,
                n=len(kept),
                least=min,
                threads=threads,
                cancel=ctypes.pointer(call.cancel),
            )
            call.run(
                lib.library.gf_nearest_earlier,
                handle,
                names_of.place,
                ctypes.byref(options),
                visit,
                None,
            )
        at = {name: i for i, name in enumerate(names)}
        rows = [at[str(one)] for one in listed]
        found = self._to_ids(near)
        return Table(
            {"id": listed, "near": [found[i] for i in rows], "score": [scores[i] for i in rows]},
            "documents",
        )

    def terms(self, **arguments: Any) -> Table:
        """The vocabulary of the build, by falling document frequency."""
        return Table.from_rows(self._by_config("terms", **arguments), "terms")

    def evaluate(self, label_field: Optional[str] = None, **arguments: Any) -> list:
        """How good the clusters are; with ``label_field`` how well they meet known classes."""
        return list(self._by_config("evaluate", label_field=label_field, **arguments))

    def export(
        self,
        path: Union[str, os.PathLike, None] = None,
        *,
        bom: bool = False,
        defuse: Optional[bool] = None,
        **arguments: Any,
    ) -> Any:
        """Documents with their clusters and their fields, as ``grouperfish export`` has them.

        Parameters
        ----------
        path : str or path-like, optional
            Write them into this file, texts as well (but with ``with_text=False``), in the format that
            its name ends in: .parquet, .feather, .arrow, .arrows (by pyarrow; .parquet also by pandas
            with fastparquet), .xlsx (by openpyxl), .csv, .json, .jsonl. A column for each field that any
            document has, ids by their type. What was there is replaced once all is written.
        bom, defuse : bool
            Of CSV: it begins with a byte order mark, for Excel; a cell that a spreadsheet would work
            out gets an apostrophe before it (as `bom` says, unless it is given). In .xlsx all texts
            are texts.
        **arguments
            As of ``export`` in docs/operations.md: ``min_score=0.5``, ``documents=True``.

        Returns
        -------
        Table
            Of the rows; with path this collection.

        Raises
        ------
        NotFound
            There is no build.
        Invalid, ImportError, OSError
            The name ends in no format; what writes it is not installed; the file cannot be written.
        """
        if path is None:
            rows = self._by_config("export", **self._number(), **arguments)
            return Table.from_rows(rows, "documents")
        place = os.fsdecode(os.fspath(path))
        _files.check_writable(place, bom, defuse)
        documents = bool(arguments.get("documents"))
        if not documents:  # they are of no configuration, and have their texts
            arguments = {"config": self.config_name, "with_text": True, **arguments}
        rows = self.run("export", **self._number(), **arguments)
        _files.write(place, rows, documents=documents, bom=bom, defuse=defuse)
        return self

    def report(self, path: Union[str, os.PathLike, None] = None, **arguments: Any) -> Any:
        """One static page about the build: written to path, or given as a string."""
        answer = self._by_config("report", wants_file=True, **arguments)
        if path is None:
            return answer.file.decode()
        with _files.whole_file(os.fsdecode(os.fspath(path))) as file:
            file.write(answer.file)
        return self

    # ---- showing -------------------------------------------------------------------------------

    def _charted(self) -> Subject:
        return Subject(self)

    def __repr__(self) -> str:
        return f"<grouperfish.Collection {self.name!r} of the store {self.store._shown()}>"

    def _repr_html_(self) -> str:
        head = f"<b>{html.escape(self.name)}</b>, {len(self):,} documents"
        try:
            return head + self.clusters()._repr_html_()
        except NotFound:
            return head + ", not clustered yet"


# ---- help ----------------------------------------------------------------------------------------

def _pairs(settings: dict) -> list:
    """KEY=VALUE of each, as operations take settings."""
    return [f"{key}={_setting(value)}" for key, value in settings.items()]


def _setting(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple) and len(value) == 2:
        return f"{value[0]}-{value[1]}"
    return str(value)


def _raise_own(source: _data.Source, failure: GrouperfishError) -> None:
    """What Python's side of a stream raised, in place of what the library says of it."""
    if source.maker is not None and source.maker.raised is not None:
        raise source.maker.raised from failure


class _Names:
    """Names as slices, which last as long as this."""

    def __init__(self, namespace: str, collection: str) -> None:
        self._kept = [namespace.encode(), collection.encode()]
        self.place = lib.Place(*[lib.slice_of(name) for name in self._kept])

    def slice(self, name: str) -> lib.Slice:
        self._kept.append(name.encode())
        return lib.slice_of(self._kept[-1])

    def __enter__(self) -> "_Names":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def _arrow_options(source, call, refused, tell) -> lib.ArrowOptions:
    named = {name: value.encode() for name, value in source.options.items()}
    return lib.ArrowOptions(
        version=1,
        refused=refused,
        progress=tell,
        cancel=ctypes.pointer(call.cancel),
        **named,
    )


def _assign_options(source, call, errors):
    @lib.REFUSED
    def refused(_context, row, _reason, message, error):
        if errors == "raise":
            why = source.refused.get(row) or message.decode("utf-8", "replace")
            return lib.fail_in(error, lib.GF_EINVAL, f"row {row}: {why}")
        return lib.GF_OK

    @lib.ARROW_PROGRESS
    def tell(_context, _rows):
        pass

    return _arrow_options(source, call, refused, tell), (refused, tell)


_STATE = ("status", "owner", "link", "note")


def _places(batch: _arrow.Batch) -> dict:
    clusters = batch.values("cluster")
    names = batch.dictionary("label")
    index = batch.values("label") if batch.rows else []
    labels = [names[i] if c else None for i, c in zip(index, clusters)]
    columns = {
        "cluster": optional(clusters),
        "label": labels,
        "score": batch.values("score"),
        "runner_up": optional(batch.values("runner_up")),
        "runner_up_score": batch.values("runner_up_score"),
    }
    if "size" in batch.names:
        columns["size"] = optional(batch.values("size"))
        for part in _STATE:
            said = batch.dictionary(part)
            index = batch.values(part) if batch.rows else []
            columns[part] = [said[i] or None if c else None for i, c in zip(index, clusters)]
    return columns


def _assign_rows(view: Any, rows: Any, threads: int) -> Table:
    places = (lib.Membership * max(rows.n, 1))()
    call = _calls.Call(False)
    call.run(
        lib.library.gf_view_assign_rows,
        view,
        ctypes.byref(rows.matrix),
        threads,
        ctypes.byref(call.cancel),
        places,
    )
    some = [places[i] for i in range(rows.n)]
    columns = {
        "cluster": [p.cluster or None for p in some],
        "label": [p.label.text() if p.cluster else None for p in some],
        "score": [p.score for p in some],
        "runner_up": [p.runner_up or None for p in some],
        "runner_up_score": [p.second for p in some],
        "size": [lib.library.gf_view_cluster_size(view, p.cluster) or None for p in some],
    }
    for part in _STATE:
        columns[part] = [
            getattr(p.state.contents, part).text() or None if p.cluster and p.state else None
            for p in some
        ]
    return Table(columns, "rows")


class Centers:
    """The centres of a build's clusters: one sparse row of unit length for each, by its id.

    Attributes
    ----------
    ids : list of int
    names : list of str
    shape : tuple
        Clusters and columns.
    indptr, indices, data : array.array
        As of scipy's CSR matrices; data is float.
    terms : list of str or None
        What the columns are, as documents write them most often; None of given rows.
    """

    def __init__(self, view: Any) -> None:
        matrix = lib.BuildMatrix()
        call = _calls.Call(False)
        call.run(lib.library.gf_view_read_centres, view, ctypes.byref(matrix))
        try:
            k, c = matrix.n_clusters, matrix.centroids
            self.ids = [matrix.cluster[i] for i in range(k)]
            self.names = [matrix.name[i].text() for i in range(k)]
            self.shape = (k, c.n_cols)
            entries = c.start[k]
            self.indptr = _copied(c.start, k + 1, "Q")
            self.indices = _copied(c.col, entries, "I")
            self.data = _copied(c.val, entries, "f")
            self.terms = None
            if matrix.vocabulary:
                surface = lib.library.gf_build_matrix_surface
                self.terms = [surface(ctypes.byref(matrix), i).text() for i in range(c.n_cols)]
        finally:
            lib.library.gf_build_matrix_release(ctypes.byref(matrix))

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_matrix of shape (clusters, columns)."""
        import numpy
        from scipy.sparse import csr_matrix

        indptr = numpy.asarray(self.indptr).astype("int64")
        indices = numpy.asarray(self.indices).astype("int32")
        return csr_matrix((numpy.asarray(self.data), indices, indptr), shape=self.shape)

    def to_numpy(self) -> Any:
        """A dense numpy array of shape (clusters, columns)."""
        import numpy

        dense = numpy.zeros(self.shape, dtype="float32")
        indices, data = numpy.asarray(self.indices), numpy.asarray(self.data)
        for i in range(self.shape[0]):
            a, b = self.indptr[i], self.indptr[i + 1]
            dense[i, indices[a:b]] = data[a:b]
        return dense


def _copied(pointer: Any, n: int, code: str) -> array:
    copy = array(code)
    copy.frombytes(ctypes.string_at(pointer, n * copy.itemsize) if n else b"")
    return copy


__all__ = ["Build", "Cancelled", "Centers", "Cluster", "Collection", "Document", "Store", "open"]
