'use strict';
const { optionalDependencies } = require('./package.json');

// Each platform has a package of its own; npm installs the one whose os and cpu fit.
const os = process.platform === 'win32' ? 'windows' : process.platform;
const platformPackage = `sqlite-bloom-${os}-${process.arch}`;
const file = { windows: 'bloom.dll', darwin: 'bloom.dylib' }[os] ?? 'bloom.so';

function getLoadablePath() {
  if (!(platformPackage in optionalDependencies)) {
    throw new Error(`There is no ${platformPackage}, only ${Object.keys(optionalDependencies).join(', ')}: ` +
      'build bloom from source for this platform');
  }
  try {
    return require.resolve(`${platformPackage}/${file}`);
  } catch (cause) {
    throw new Error(`${platformPackage} is not installed: install sqlite-bloom anew on this platform, ` +
      'with its optional dependencies', { cause });
  }
}

function load(db) {
  db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
