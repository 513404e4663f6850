/*
** The interface for JavaScript: sqliteBloom() promises an object whose open() returns a
** database in memory, with bloom.
**
**   const {open} = await sqliteBloom();
**   const db = open();
**   db.exec("CREATE TABLE t(k); INSERT INTO t VALUES ('ada')");
**   const [{columns, rows}] = db.exec("SELECT bloom_build(k) FROM t WHERE k <> ?", ["bob"]);
**   db.close();
**
** exec() runs all statements of a text, and returns an array: columns and rows of each
** statement that has columns.  Its parameters are bound to each of them.  NULL is null, TEXT
** a string, BLOB a Uint8Array, REAL a number; INTEGER is a number, or a bigint where a number
** would not be exact.  A third argument may set maxMs, after which SQLite's error is
** "interrupted", and maxRows: a statement with more rows ends there, and has isCut.
**
** watch(name, seen) makes a function of SQL, name(id, value): it returns the value, and calls
** seen(id).  A generated column AS (name(id, other_column)) so tells which rows are read.
*/

const SQLITE_ROW = 100, SQLITE_DONE = 101;
const SQLITE_INTEGER = 1, SQLITE_FLOAT = 2, SQLITE_TEXT = 3, SQLITE_NULL = 5;
const SQLITE_TRANSIENT = -1;
const SQLITE_UTF8 = 1, SQLITE_DETERMINISTIC = 0x800, SQLITE_INNOCUOUS = 0x200000;

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/* The address of a copy that free() takes back, with a 0 behind it. */
function copyOf(bytes) {
  const address = _malloc(bytes.length + 1);
  if (address === 0) throw new Error("out of memory");
  HEAPU8.set(bytes, address);
  HEAPU8[address + bytes.length] = 0;
  return address;
}

/* A copy of its own: what C shows moves when its memory grows. */
function bytesAt(address, numBytes) {
  return HEAPU8.slice(address, address + numBytes);
}

class Database {
  constructor(handle) {
    this.handle = handle;
    if (this.handle === 0) throw new Error("out of memory");
  }

  exec(sql, parameters = [], {maxRows = Infinity, maxMs = 0} = {}) {
    const results = [];
    const text = copyOf(utf8.encode(sql));
    const out = copyOf(new Uint8Array(8)); // the statement, and where the next one begins
    _database_limit_time(maxMs);
    try {
      for (let next = text; HEAPU8[next] !== 0;) {
        this.check(_sqlite3_prepare_v2(this.handle, next, -1, out, out + 4));
        const statement = HEAP32[out >> 2];
        next = HEAP32[(out >> 2) + 1];
        if (statement === 0) continue; // a comment, or blanks
        try {
          this.bind(statement, parameters);
          const result = this.run(statement, maxRows);
          if (result.columns.length > 0) results.push(result);
        } finally {
          _sqlite3_finalize(statement);
        }
      }
    } finally {
      _database_limit_time(0);
      _free(out);
      _free(text);
    }
    return results;
  }

  watch(name, seen) {
    const address = copyOf(utf8.encode(name));
    const call = addFunction((context, count, values) => {
      seen(numberOf(_sqlite3_value_int64(HEAP32[values >> 2])));
      _sqlite3_result_value(context, HEAP32[(values >> 2) + 1]);
    }, "viii");
    try {
      this.check(_sqlite3_create_function(this.handle, address, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, 0, call, 0, 0));
    } finally {
      _free(address);
    }
  }

  close() {
    this.check(_sqlite3_close(this.handle));
    this.handle = 0;
  }

  check(status) {
    if (status !== 0) {
      const address = _sqlite3_errmsg(this.handle);
      throw new Error(fromUtf8.decode(bytesAt(address, HEAPU8.indexOf(0, address) - address)));
    }
  }

  bind(statement, parameters) {
    const count = Math.min(_sqlite3_bind_parameter_count(statement), parameters.length);
    for (let i = 1; i <= count; i++) {
      const value = parameters[i - 1];
      if (value === null || value === undefined) {
        this.check(_sqlite3_bind_null(statement, i));
      } else if (typeof value === "bigint" || typeof value === "boolean" || Number.isSafeInteger(value)) {
        this.check(_sqlite3_bind_int64(statement, i, BigInt(value)));
      } else if (typeof value === "number") {
        this.check(_sqlite3_bind_double(statement, i, value));
      } else {
        const isText = typeof value === "string";
        const bytes = isText ? utf8.encode(value) : value;
        const address = copyOf(bytes);
        const status = isText ? _sqlite3_bind_text(statement, i, address, bytes.length, SQLITE_TRANSIENT)
          : _sqlite3_bind_blob(statement, i, address, bytes.length, SQLITE_TRANSIENT);
        _free(address);
        this.check(status);
      }
    }
  }

  run(statement, maxRows) {
    const result = {columns: [], rows: [], isCut: false};
    const count = _sqlite3_column_count(statement);
    for (let i = 0; i < count; i++) {
      const address = _sqlite3_column_name(statement, i);
      result.columns.push(fromUtf8.decode(bytesAt(address, HEAPU8.indexOf(0, address) - address)));
    }
    let status = _sqlite3_step(statement);
    for (; status === SQLITE_ROW; status = _sqlite3_step(statement)) {
      if (result.rows.length >= maxRows) {
        result.isCut = true;
        return result;
      }
      const row = [];
      for (let i = 0; i < count; i++) row.push(valueOf(statement, i));
      result.rows.push(row);
    }
    if (status !== SQLITE_DONE) this.check(status);
    return result;
  }
}

/* A bigint, where a number would not be exact. */
function numberOf(value) {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function valueOf(statement, column) {
  switch (_sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return null;
    case SQLITE_INTEGER:
      return numberOf(_sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return _sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const address = _sqlite3_column_text(statement, column);
      return fromUtf8.decode(bytesAt(address, _sqlite3_column_bytes(statement, column)));
    }
    default: {
      const address = _sqlite3_column_blob(statement, column);
      return bytesAt(address, _sqlite3_column_bytes(statement, column));
    }
  }
}

Module["open"] = () => new Database(_database_open());
