/** A connection of better-sqlite3, libsql, node:sqlite (opened with allowExtension), sqlite3 ... */
export interface Connection {
  loadExtension(path: string): unknown;
}

/** The path of bloom's library for this platform. Throws if there is none, or if its package is not installed. */
export function getLoadablePath(): string;

/** Gives db the functions of bloom. */
export function load(db: Connection): void;
