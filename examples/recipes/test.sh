#!/bin/sh
# Runs the recipes, which all print one of two texts: sh examples/recipes/test.sh [quick], at the top of
# the checkout, after `make`.  Ends with `N passed, N failed`.
# What is not installed is left out, with a word (sh test/lib/install_packages.sh recipes
# installs it on Debian); quick leaves out what npm would have to bring.
. test/lib/shared.sh
find_python
work=build/recipes
mkdir -p $work || exit 1
expected=examples/recipes/recipe.expected

# prints_it COMMAND ...
prints_it() { "$@" | diff -u $expected -; }
prints_index() { "$@" | diff -u examples/recipes/index.expected -; }
has_module() { "$PYTHON" -c "import $1" 2>/dev/null; }

if has_module django; then
  check 'Django' prints_it "$PYTHON" examples/recipes/django_orm.py
  check 'Django, a bloom_index' prints_index "$PYTHON" examples/recipes/django_index.py
else
  leave_out 'Django' 'It is not installed'
fi
if has_module sqlalchemy; then
  check 'SQLAlchemy' prints_it "$PYTHON" examples/recipes/sqlalchemy_core.py
  check 'SQLAlchemy, a bloom_index' prints_index "$PYTHON" examples/recipes/sqlalchemy_index.py
else
  leave_out 'SQLAlchemy' 'It is not installed'
fi
if command -v sqlite-utils >/dev/null; then
  check 'sqlite-utils' prints_it sh examples/recipes/sqlite_utils.sh
  check 'sqlite-utils, a bloom_index' prints_index sh examples/recipes/sqlite_utils_index.sh
else
  leave_out 'sqlite-utils' 'It is not installed'
fi

# Where the Node examples have theirs.
node_modules=build/node/node_modules
npm_brings() {
  [ -d $node_modules/better-sqlite3 ] ||
    { mkdir -p build/node && cp examples/node/package.json build/node && npm install --prefix build/node --no-audit --no-fund; }
}
if [ "${1-}" != quick ] && command -v npm >/dev/null; then check 'npm brings better-sqlite3' npm_brings; fi
if [ -d $node_modules/better-sqlite3 ]; then
  check 'better-sqlite3' prints_it env NODE_PATH="$PWD/$node_modules" node examples/recipes/better_sqlite3.js
  check 'better-sqlite3, a bloom_index' prints_index env NODE_PATH="$PWD/$node_modules" node examples/recipes/better_sqlite3_index.js
elif [ "${1-}" = quick ]; then
  echo 'note: better-sqlite3 is left out, which npm has not brought here'
else
  leave_out 'better-sqlite3' 'npm is not here'
fi
finish
