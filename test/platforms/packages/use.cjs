// The packages in CommonJS, and what they say where there is no library for them.
const fs = require('node:fs');
const path = require('node:path');
const Database = require('better-sqlite3');
const bloom = require('sqlite-bloom');

const db = new Database(':memory:');
bloom.load(db);
console.log(db.prepare("SELECT bloom_version() || ' ' || bloom_may_contain(bloom_build(1), 1) AS said").get().said);

function complaint(platform) {
  const real = process.platform;
  Object.defineProperty(process, 'platform', { value: platform });
  delete require.cache[require.resolve('sqlite-bloom')];
  try {
    return require('sqlite-bloom').getLoadablePath();
  } catch (error) {
    return error.message;
  } finally {
    Object.defineProperty(process, 'platform', { value: real });
  }
}
console.log(complaint('sunos'));
console.log(complaint('win32'));

// A package has its licences with it.
for (const name of fs.readdirSync('node_modules').filter((name) => name.startsWith('sqlite-bloom')).sort()) {
  console.log(name, fs.readdirSync(path.join('node_modules', name)).sort().join(' '));
}
