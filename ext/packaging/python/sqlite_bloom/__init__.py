"""
Bloom filters for SQLite: bloom, a loadable extension.

    db = sqlite3.connect("app.db")
    db.enable_load_extension(True)
    sqlite_bloom.load(db)
    db.enable_load_extension(False)
"""

import os
import sqlite3

__version__ = "@version@"


# As pyenv, Apple and python.org (on macOS) build it.
_NO_LOADING = (
    "this Python was built without loading of SQLite extensions: its connections have no enable_load_extension(). "
    "Three ways out: (1) another Python, such as Debian's /usr/bin/python3 or Homebrew's; "
    "(2) `pip install apsw`, whose connections sqlite_bloom.load() takes; "
    "(3) `pip install pysqlite3`, and `import pysqlite3 as sqlite3`")


def loadable_path() -> str:
    """The path of bloom's library, without the suffix, which SQLite adds."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bloom")


def load(connection) -> None:
    """
    Gives connection, of sqlite3, apsw or pysqlite3, the functions of bloom.

    Call connection.enable_load_extension(True) first.  Raises sqlite3.NotSupportedError
    where this Python's sqlite3 cannot load extensions.
    """
    # Older versions of apsw have the one name, sqlite3 the other.
    load_extension = getattr(connection, "load_extension", None) or getattr(connection, "loadextension", None)
    if load_extension is None:
        raise sqlite3.NotSupportedError(_NO_LOADING)
    try:
        load_extension(loadable_path())
    except Exception as error:
        if "not authorized" not in str(error):
            raise
        raise type(error)("not authorized: call connection.enable_load_extension(True) before sqlite_bloom.load(connection)") from error
