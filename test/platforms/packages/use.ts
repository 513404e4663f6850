// Compiled only: the types are those of the clients.
import Database from 'better-sqlite3';
import { getLoadablePath, load } from 'sqlite-bloom';

const db = new Database(':memory:');
const nothing: void = load(db);
const path: string = getLoadablePath();
// @ts-expect-error: a number is no connection
load(1);
export { nothing, path };
