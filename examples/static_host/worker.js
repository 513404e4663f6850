/*
** The worker: SQLite with bloom, and a file on a web server of which it reads parts.
**
** The page sends {open: {url, unit, ahead}} or {query: {sql, parameters, maxRows, forget}}; answers are {opened},
** {answer} or {error}, and {progress} after each request.  SQLite waits for what it reads, so requests
** are synchronous, which a worker may do; the page stays alive meanwhile.  forget: what
** earlier searches fetched is fetched again.
**
** A request is for units of `unit` bytes, those that are missing.  Where reading goes on behind the
** last request it asks for twice as many, up to `ahead` units: a scan takes few requests, and a
** jump takes a small one.
*/
"use strict";

importScripts("sqlite-bloom.js");

const MAX_HEADS = 8; // places where reading goes on: tables and indexes are read in turns
const MAX_CACHED_BYTES = 1 << 27;
const TIMEOUT_MS = 60000;

/* The file, and what has been fetched of it. */
class Remote {
  constructor(url, unit, ahead) {
    Object.assign(this, {url, unit, ahead, size: 0, version: null, failure: null});
    this.requests = this.bytes = 0;
    this.opening = []; // what was fetched to open the file: [number, bytes]
    this.forget();
  }

  forget() {
    this.units = new Map(this.opening); // number -> bytes
    this.heads = []; // {next, count}: the unit behind a request, and how many it had; last used first
  }

  /* The first bytes, by a request that can be given up: a host without ranges would send all. */
  async open() {
    const stop = new AbortController();
    let answer;
    try {
      answer = await fetch(this.url, {headers: {Range: `bytes=0-${this.unit - 1}`}, signal: stop.signal});
    } catch (error) {
      // Chromium takes no part that is compressed, and does not say so.
      const isThere = await fetch(this.url, {method: "HEAD"}).then(() => true, () => false);
      throw new Error(isThere ? "the host answers, but the browser cannot read the part of the file that it sends: "
        + "switch HTTP compression off for it" : `the host cannot be reached (${error.message})`);
    }
    if (answer.status !== 206) {
      stop.abort();
      if (answer.ok) {
        throw new Error("this host sends whole files only: it takes no range requests (HTTP 206), and the file is "
          + "not downloaded as a whole");
      }
      throw new Error(`the host says ${answer.status} ${answer.statusText} for ${this.url}`);
    }
    const encoding = answer.headers.get("Content-Encoding") ?? "identity";
    if (encoding !== "identity") {
      stop.abort();
      throw new Error(`the host compresses the file (${encoding}), so that its parts are not SQLite's: switch HTTP `
        + "compression off for it");
    }
    const range = /^bytes 0-\d+\/(\d+)$/.exec(answer.headers.get("Content-Range") ?? "");
    if (range === null) {
      stop.abort();
      throw new Error("the host does not say how large the file is: it must send Content-Range, and name it in "
        + "Access-Control-Expose-Headers where the file is on another host than the page");
    }
    this.size = Number(range[1]);
    this.version = versionOf((name) => answer.headers.get(name), range[1]);
    this.keep(0, new Uint8Array(await answer.arrayBuffer()));
    this.count(Math.min(this.unit, this.size));
    if (!isDatabase(this.units.get(0))) throw new Error(`${this.url} is no SQLite database`);
  }

  /* What remote.c calls: 0, or 1 and this.failure says why. */
  read(out, offset) {
    const last = Math.floor((offset + out.length - 1) / this.unit);
    try {
      for (let unit = Math.floor(offset / this.unit); unit <= last; unit++) {
        if (!this.units.has(unit)) this.fetch(unit, last - unit + 1);
        const bytes = this.units.get(unit), begin = unit * this.unit - offset;
        const part = bytes.subarray(Math.max(0, -begin), Math.max(0, out.length - begin));
        out.set(part, Math.max(0, begin));
      }
    } catch (error) {
      this.failure = error;
      return 1;
    }
    return 0;
  }

  /* Requests at least so many units. */
  fetch(first, count) {
    const head = this.heads.findIndex(({next}) => next === first);
    if (head >= 0) count = Math.max(count, Math.min(this.ahead, 2 * this.heads.splice(head, 1)[0].count));
    const end = Math.min(first + count, Math.ceil(this.size / this.unit));
    count = 1;
    while (first + count < end && !this.units.has(first + count)) count++;
    this.heads.unshift({next: first + count, count});
    this.heads.length = Math.min(this.heads.length, MAX_HEADS);
    const begin = first * this.unit, numBytes = Math.min(count * this.unit, this.size - begin);
    this.keep(first, this.request(begin, numBytes));
    this.count(numBytes);
  }

  request(begin, numBytes) {
    const request = new XMLHttpRequest();
    request.open("GET", this.url, false);
    request.responseType = "arraybuffer";
    request.timeout = TIMEOUT_MS;
    request.setRequestHeader("Range", `bytes=${begin}-${begin + numBytes - 1}`);
    try {
      request.send();
    } catch (error) {
      throw new Error(`the network failed: ${error.message}. Search again to go on from here`);
    }
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(request.getResponseHeader("Content-Range") ?? "");
    if (request.status === 416 || (request.status === 206 && range !== null
        && versionOf((name) => request.getResponseHeader(name), range[3]) !== this.version)) {
      throw new Error("the file on the host has changed since this page opened it: load the page again");
    }
    if (request.status !== 206 || range === null) {
      throw new Error(`the host says ${request.status} ${request.statusText} to a range request. Search again to try once more`);
    }
    const bytes = new Uint8Array(request.response);
    if (Number(range[1]) !== begin || bytes.length !== numBytes) {
      throw new Error(`the host sent ${bytes.length} bytes where ${numBytes} were asked for. Search again to try once more`);
    }
    return bytes;
  }

  keep(first, bytes) {
    if (this.units.size * this.unit > MAX_CACHED_BYTES) this.forget();
    for (let at = 0; at < bytes.length; at += this.unit) this.units.set(first + at / this.unit, bytes.subarray(at, at + this.unit));
  }

  count(numBytes) {
    this.requests++;
    this.bytes += numBytes;
    postMessage({progress: {requests: this.requests, bytes: this.bytes}});
  }
}

/* A file of another version has another one. */
function versionOf(header, size) {
  return `${header("ETag") ?? header("Last-Modified")} ${size}`;
}

function isDatabase(bytes) {
  return bytes !== undefined && String.fromCharCode(...bytes.subarray(0, 15)) === "SQLite format 3";
}

let remote = null, db = null, sqlite = null;

async function open({url, unit, ahead}) {
  remote = new Remote(url, unit, ahead);
  sqlite = await sqliteBloom();
  sqlite["remote"] = remote;
  await remote.open();
  db = sqlite.openRemote();
  const [{rows: [[versions]]}] = db.exec("SELECT sqlite_version() || ', bloom ' || bloom_version()");
  db.exec("SELECT 1 FROM sqlite_schema");
  remote.opening = [...remote.units];
  return {versions, size: remote.size, requests: remote.requests, bytes: remote.bytes};
}

function query({sql, parameters, maxRows, forget}) {
  remote.requests = remote.bytes = 0;
  remote.failure = null;
  const start = performance.now();
  try {
    if (forget) { // SQLite keeps pages, too, until its connection is closed
      remote.forget();
      db.close();
      db = sqlite.openRemote();
    }
    const [{rows, isCut}] = db.exec(sql, parameters, {maxRows});
    return {rows, isCut, requests: remote.requests, bytes: remote.bytes, ms: performance.now() - start};
  } catch (error) {
    throw remote.failure ?? error;
  }
}

onmessage = async ({data}) => {
  try {
    postMessage("open" in data ? {opened: await open(data.open)} : {answer: query(data.query)});
  } catch (error) {
    postMessage({error: error.message});
  }
};
