/*
** Databases as an application on Node or Electron writes them, with classic-level:
**
**   node write_classic_level.js FOLDER NUM_KEYS
**
** A folder's name says what is in it, as leveldb_files.cc reads it.
*/
'use strict';

const crypto = require('crypto');
const path = require('path');
const { ClassicLevel } = require('classic-level');

const [folder, numKeys] = [process.argv[2], Number(process.argv[3])];

const hashOf = (number) => crypto.createHash('md5').update(String(number)).digest();
const keyOf = {
  // Letters of one to four bytes.
  utf8: (number) => 'kéy♥🌱'.slice(0, number % 6) + '!' + number,
  binary: (number) => Buffer.concat([hashOf(number).subarray(0, number % 9), Buffer.from(Uint32Array.of(number).buffer)]),
};

async function write(keys, blockSize, compression) {
  const name = [keys, blockSize > 1e6 ? 'one-filter' : 'block' + blockSize, compression ? 'snappy' : 'raw'].join('-');
  const db = new ClassicLevel(path.join(folder, name), {
    keyEncoding: keys === 'utf8' ? 'utf8' : 'buffer', valueEncoding: 'utf8', blockSize, compression, errorIfExists: true,
  });
  await db.open();
  for (let begin = 0; begin < numKeys; begin += 10000) {
    const batch = [];
    for (let i = begin; i < Math.min(begin + 10000, numKeys); i++) {
      batch.push({ type: 'put', key: keyOf[keys](i), value: hashOf(i).toString('hex').slice(i % 32) });
      if (i % 100 === 1) batch.push({ type: 'del', key: keyOf[keys](i - 1) });
    }
    await db.batch(batch);
  }
  const ends = keys === 'utf8' ? ['\u0000', '\u{10ffff}'] : [Buffer.alloc(1), Buffer.alloc(16, 255)];
  await db.compactRange(...ends);
  await db.close();
}

(async () => {
  for (const keys of ['utf8', 'binary']) {
    for (const blockSize of [4096, 16 << 20]) {
      for (const compression of [true, false]) await write(keys, blockSize, compression);
    }
  }
})();
