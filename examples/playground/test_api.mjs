/*
** What a developer gets from build/playground/sqlite-bloom.js, under Node: node test_api.mjs FILE.
** Values to and fro, golden filters (those of LevelDB and of Parquet, ext/FORMATS.md), errors,
** limits.  Ends with `N passed, N failed`.
*/
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import {gzipSync} from "node:zlib";
import {leveldbHash, xxh64} from "./src/hashes.js";

const {open} = await createRequire(import.meta.url)(path.resolve(process.argv[2]))();
const db = open();
const cells = (sql, ...rest) => db.exec(sql, ...rest).flatMap(({rows}) => rows.flat());
const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

const tests = {
  "golden filters of LevelDB": () => {
    for (const [bitsPerKey, filter] of [[1, "004000000000001001"], [10, "114000414410401006"], [16, "11551141445544100b"],
      [44, "54551555555555515055541e"]]) {
      assert.deepEqual(cells("SELECT hex(bloom_build(value, ?)) FROM json_each('[\"hello\", \"world\"]')", [bitsPerKey]),
        [filter.toUpperCase()]);
    }
    assert.deepEqual(cells("SELECT hex(bloom_build(value)) FROM json_each('[1,2,3,4,5,6,7,8,9,10]')"), ["419F05F01021315500CBE82B0506"]);
    assert.deepEqual(cells("SELECT hex(bloom_empty(0))"), ["000000000000000006"]);
  },
  "golden filters of Parquet": () => {
    const header = "15401c1c00001c1c00001c1c000000";
    for (const [key, block] of [["1", "0000000800000002000000020000020000000004000000084000000000010000"],
      ["bloom_key(1, 'int32')", "0400000000000004004000000400000000000004002000000000000200080000"],
      ["'hello'", "0000100000020000000400008000000000020000000000800000001000000008"]]) {
      assert.deepEqual(cells(`SELECT lower(hex(bloom_build(${key}, 'parquet')))`), [header + block]);
    }
  },
  "a partition needs a product of 128 bits": () => {
    assert.deepEqual(cells("SELECT bloom_partition(value, 1000000007) FROM json_each('[1, \"hello\", \"\", 0.5]')"),
      [397661510, 583342099, 175880434, 365871877]);
  },
  "more keys than one batch, and a virtual table": () => {
    const keys = `${ENDLESS} SELECT i FROM n LIMIT 100000`;
    assert.deepEqual(cells(`SELECT length(bloom_build(i)), length(bloom_build(i, 'parquet')) FROM (${keys})`), [125001, 125041]);
    assert.deepEqual(cells(`CREATE TABLE t(k); CREATE VIRTUAL TABLE f USING bloom(t, k); INSERT INTO t ${keys};
      SELECT count(*) FROM f('77777'); SELECT sum(bloom_may_contain((SELECT handle FROM f), k)) FROM t;
      SELECT count(*) < 30 FROM json_each('[-1, -2, -3, -4, -5, -6, -7, -8, -9]') j, f(j.value)`), [1, 100000, 1]);
  },
  "values to and fro": () => {
    const values = [null, 1, -0.5, 2 ** 53, "", "süß\0€", new Uint8Array([0, 255]), new Uint8Array(), 2n ** 63n - 1n, -(2n ** 63n)];
    const marks = values.map(() => "?").join();
    assert.deepEqual(cells(`SELECT ${marks}`, values), values.map((value) => (value === 2 ** 53 ? 2 ** 53 : value)));
    assert.deepEqual(cells(`SELECT typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), typeof(?)`,
      [undefined, 7, 7.5, 7n, true, "7"]), ["null", "integer", "real", "integer", "integer", "text"]);
    assert.deepEqual(cells("SELECT ?2, ?1", [1, 2]), [2, 1]);
    assert.deepEqual(cells("SELECT ?", []), [null]);
    assert.deepEqual(cells("SELECT 9007199254740993"), [9007199254740993n]);
    const filter = cells("SELECT bloom_build('a')")[0];
    assert.deepEqual(cells("SELECT bloom_may_contain(?1, 'a'), bloom_may_contain(?1, 'b')", [filter]), [1, 0]);
  },
  "statements and their columns": () => {
    assert.deepEqual(db.exec("CREATE TABLE u(a); INSERT INTO u VALUES (1); SELECT a AS x, 2 FROM u; -- no more\n SELECT a FROM u WHERE 0; "),
      [{columns: ["x", "2"], rows: [[1, 2]], isCut: false}, {columns: ["a"], rows: [], isCut: false}]);
    assert.deepEqual(db.exec("  "), []);
  },
  "errors are SQLite's, and statements before them count": () => {
    assert.throws(() => db.exec("CREATE TABLE v(a); SELECT no_such()"), {message: "no such function: no_such"});
    assert.deepEqual(cells("SELECT count(*) FROM v"), [0]);
    assert.throws(() => db.exec("SELECT bloom_build(1, 0)"),
      {message: "bloom_build(): argument 2 (bits_per_key) must be a number in 1..100, or a rate above 0 and below 1, not 0"});
    assert.throws(() => db.exec("SELECT zeroblob(2000000000)"), {message: "string or blob too big"});
    assert.throws(() => db.exec("SELECT load_extension('x')"), {message: "no such function: load_extension"});
  },
  "limits": () => {
    const start = performance.now();
    assert.throws(() => db.exec(`${ENDLESS} SELECT count(*) FROM n`, [], {maxMs: 200}), {message: "interrupted"});
    assert.ok(performance.now() - start < 5000);
    assert.deepEqual(db.exec(`${ENDLESS} SELECT i FROM n`, [], {maxRows: 2}), [{columns: ["i"], rows: [[1], [2]], isCut: true}]);
    assert.deepEqual(cells("SELECT 1", [], {maxRows: 1}), [1]);
  },
  "a function that notes which rows are read": () => {
    const watched = open(), seen = [];
    watched.watch("note_read", (id) => seen.push(id));
    watched.exec(`CREATE TABLE w(id INTEGER PRIMARY KEY, stored, v AS (note_read(id, stored)));
      INSERT INTO w(id, stored) VALUES (1, 'a'), (2, x'00'), (3, NULL), (-5, 0.5)`);
    seen.length = 0;
    assert.deepEqual(watched.exec("SELECT id, v FROM w WHERE id > 0")[0].rows, [[1, "a"], [2, new Uint8Array([0])], [3, null]]);
    assert.deepEqual(seen.splice(0), [1, 2, 3]);
    assert.deepEqual(watched.exec("SELECT id FROM w WHERE v = 0.5")[0].rows, [[-5]]);
    assert.deepEqual(seen.splice(0), [-5, 1, 2, 3]);
    watched.exec("SELECT note_read(9007199254740993, 1)");
    assert.deepEqual(seen, [9007199254740993n]);
    assert.throws(() => watched.exec("SELECT note_read(1)"), {message: "wrong number of arguments to function note_read()"});
    assert.throws(() => db.exec("SELECT note_read(1, 2)"), {message: "no such function: note_read"});
    watched.close();
  },
  "random numbers are not the same twice": () => {
    assert.notDeepEqual(cells("SELECT random(), randomblob(16)"), cells("SELECT random(), randomblob(16)"));
  },
  "memory that is asked for is given back": () => {
    const other = open();
    assert.throws(() => other.exec("SELECT * FROM u"), {message: "no such table: u"});
    for (let i = 0; i < 200; i++) other.exec("SELECT length(?)", [new Uint8Array(10e6)]);
    other.close();
  },
  "the size that ext/BUILDING.md tells": () => {
    const page = readFileSync(new URL("../../ext/BUILDING.md", import.meta.url), "utf8");
    const [, told] = /\((\S+) MB compressed\)/.exec(page), numBytes = gzipSync(readFileSync(process.argv[2]), {level: 9}).length;
    assert.ok(Math.abs(numBytes / 1e6 / told - 1) < 0.05, `${numBytes} bytes, not ${told} MB`);
  },
  "the page's own hashes": () => {
    const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
    for (const [key, hash] of [["", 0xbc9f1d34], ["62", 0xef1345c4], ["c397", 0x5b663814], ["e299a5", 0x323c078f],
      ["e180b932", 0xed21633a], ["68656c6c6f", 0xf795964e]]) {
      assert.equal(leveldbHash(bytes(key)), hash);
    }
    for (const [key, hash] of [["", 0xef46db3751d8e999n], ["61", 0xd24ec4f1a98c6e5bn], ["68656c6c6f", 0x26c7827d889f6da3n],
      ["ffffffffffffffff", 0x85d136adb773c6c9n], [Buffer.from("0123456789".repeat(5)).toString("hex"), 0x4f7ca65914623935n]]) {
      assert.equal(xxh64(bytes(key)), hash);
    }
  },
};

let numPassed = 0, numFailed = 0;
for (const [title, test] of Object.entries(tests)) {
  try {
    test();
    numPassed++;
  } catch (failure) {
    numFailed++;
    console.log(`FAILED: ${title}\n${failure.stack}`);
  }
}
console.log(`${numPassed} passed, ${numFailed} failed`);
process.exitCode = numFailed === 0 ? 0 : 1;
