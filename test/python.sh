# To be sourced: exports PYTHON, a Python 3 that can load SQLite's extensions. Many cannot,
# often the one that comes first on PATH; macOS's own cannot either, Homebrew's can.
for candidate in "${PYTHON-}" /usr/bin/python3 python3 /opt/homebrew/bin/python3 /usr/local/bin/python3; do
  if "$candidate" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' >/dev/null 2>&1; then
    PYTHON=$candidate
    break
  fi
done
: "${PYTHON:=/usr/bin/python3}" # none: what it is asked fails
export PYTHON
