// DuckDB and other writers behind a pipe: one request a line, one answer a line, JSON.
//
//   {"sql": "..."}                                        rows that DuckDB gives
//   {"file": "...", "type": "BIGINT", "num_keys": 10}     hyparquet-writer writes the file
//   {"file": "...", "type": "BIGINT", "keys": [...]}      the same of these keys
//   {"file": "...", "parquetjs": [...]}                   @dsnp/parquetjs writes the file of these texts
//   {"file": "...", "offset": "4711"}                     the filter there as the catalogue reads it: hex or null
import { openSync, closeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import parquetjs from '@dsnp/parquetjs'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteFile } from 'hyparquet-writer'
import catalogue from './read_filter.js'

// Key i of each type that hyparquet-writer writes filters for, and how it calls the type;
// real_files.py has the same keys in bytes.
const types = {
  BIGINT: { type: 'INT64', key: i => BigInt(i) * 1000003n - 500000n, read: BigInt },
  INTEGER: { type: 'INT32', key: i => i * 7 - 3 },
  FLOAT: { type: 'FLOAT' },
  DOUBLE: { type: 'DOUBLE', key: i => i / 4 - 10 },
  VARCHAR: { type: 'STRING', key: i => 'cust-' + String(i).padStart(11, '0') },
  BLOB: {
    type: 'BYTE_ARRAY',
    read: hex => new Uint8Array(Buffer.from(hex, 'hex')),
    key: i => Uint8Array.of(...[24, 16, 8, 0].map(shift => Math.imul(i, 2654435761) >>> shift & 255), 0),
  },
}

async function write({ file, type, num_keys, keys }) {
  const { type: basic, key, read = x => x } = types[type]
  const data = keys ? keys.map(read) : Array.from({ length: num_keys }, (_, i) => key(i))
  await parquetWriteFile({
    filename: file,
    columnData: [{ name: 'k', data, type: basic, bloomFilter: true }],
    rowGroupSize: data.length,
  })
}

async function writeByParquetjs({ file, parquetjs: keys }) {
  const { ParquetSchema, ParquetWriter } = parquetjs
  const schema = new ParquetSchema({ k: { type: 'UTF8' } })
  const writer = await ParquetWriter.openFile(schema, file, { bloomFilters: [{ column: 'k' }] })
  for (const k of keys) await writer.appendRow({ k })
  await writer.close()
}

function readFilter({ file, offset }) {
  const number = openSync(file)
  const filter = catalogue.readFilter(number, offset)
  closeSync(number)
  return filter && filter.toString('hex')
}

const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  let answer
  try {
    if (request.sql) {
      const reader = await duckdb.runAndReadAll(request.sql)
      answer = { rows: reader.getRowsJson() }
    } else if (request.offset) {
      answer = { rows: readFilter(request) }
    } else {
      await (request.parquetjs ? writeByParquetjs : write)(request)
      answer = { rows: [] }
    }
  } catch (error) {
    answer = { error: String(error.message) }
  }
  console.log(JSON.stringify(answer))
}
