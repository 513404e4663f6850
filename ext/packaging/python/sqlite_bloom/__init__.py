"""Bloom filters for SQLite: bloom, a loadable extension.

    db = sqlite3.connect("app.db")
    db.enable_load_extension(True)
    sqlite_bloom.load(db)
    db.enable_load_extension(False)
"""

import os

__version__ = "@version@"


def loadable_path() -> str:
    """The path of bloom's library, without the suffix, which SQLite adds."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bloom")


def load(connection) -> None:
    """Gives connection, sqlite3's or apsw's, the functions of bloom.

    Call connection.enable_load_extension(True) first.
    """
    # Older versions of apsw have the one name, sqlite3 the other.
    load_extension = getattr(connection, "load_extension", None) or connection.loadextension
    load_extension(loadable_path())
