/* Beside api.js: openRemote() returns the database that Module.remote reads (remote.c). */
Module["openRemote"] = () => new Database(_remote_open());
