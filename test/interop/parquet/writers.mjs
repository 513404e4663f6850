// DuckDB and hyparquet-writer behind a pipe: one request a line, one answer a line, JSON.
//
//   {"sql": "..."}                                        rows that DuckDB gives
//   {"file": "...", "type": "BIGINT", "num_keys": 10}     hyparquet-writer writes the file
import { createInterface } from 'node:readline'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteFile } from 'hyparquet-writer'

// Key i of each type that hyparquet-writer writes filters for, and how it calls the type;
// real_files.py has the same keys in bytes.
const types = {
  BIGINT: { type: 'INT64', key: i => BigInt(i) * 1000003n - 500000n },
  INTEGER: { type: 'INT32', key: i => i * 7 - 3 },
  DOUBLE: { type: 'DOUBLE', key: i => i / 4 - 10 },
  VARCHAR: { type: 'STRING', key: i => 'cust-' + String(i).padStart(11, '0') },
  BLOB: {
    type: 'BYTE_ARRAY',
    key: i => Uint8Array.of(...[24, 16, 8, 0].map(shift => Math.imul(i, 2654435761) >>> shift & 255), 0),
  },
}

async function write({ file, type, num_keys }) {
  const { type: basic, key } = types[type]
  const data = Array.from({ length: num_keys }, (_, i) => key(i))
  await parquetWriteFile({
    filename: file,
    columnData: [{ name: 'k', data, type: basic, bloomFilter: true }],
    rowGroupSize: num_keys,
  })
}

const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  let answer
  try {
    if (request.sql) {
      const reader = await duckdb.runAndReadAll(request.sql)
      answer = { rows: reader.getRowsJson() }
    } else {
      await write(request)
      answer = { rows: [] }
    }
  } catch (error) {
    answer = { error: String(error.message) }
  }
  console.log(JSON.stringify(answer))
}
