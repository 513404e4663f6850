#!/usr/bin/python3
"""
A static host for trying the page: serve.py FOLDER [PORT].

Serves files, and parts of them for range requests, as static hosts do. Python's own server
knows no ranges. Tests use it as a module and set its attributes: a slow link, and hosts that
have faults.
"""
import functools
import gzip
import http.server
import os
import re
import sys
import threading
import time


class Host(http.server.ThreadingHTTPServer):
    daemon_threads = True
    delay = 0.0        # seconds before each answer to a range request
    has_ranges = True  # else the whole file is the answer
    fails = False      # every connection ends without an answer
    status = 206       # of an answer to a range request; any other is an error
    encoding = None    # "gzip": parts are compressed, though nobody asked for it; another one is only said
    version = "1"      # of all files
    requests = sent = 0  # range requests, and their bytes

    def __init__(self, folder, port=0):
        super().__init__(("127.0.0.1", port), functools.partial(Handler, directory=folder))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a part waits for its headers' acknowledgement, 40 ms

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # a page that was closed, or a search that was stopped
            pass

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        path = self.translate_path(self.path)
        if self.server.fails:
            self.close_connection = True
            return
        if not wanted or not self.server.has_ranges or not os.path.isfile(path):
            super().do_GET()
            return
        time.sleep(self.server.delay)
        size = os.path.getsize(path)
        first, last = int(wanted[1]), min(int(wanted[2]), size - 1)
        if first > last:
            self.send_error(416)
            return
        with open(path, "rb") as file:
            file.seek(first)
            part = file.read(last - first + 1)
        if self.server.status != 206:
            self.send_error(self.server.status)
            return
        self.server.requests += 1
        self.server.sent += len(part)
        if self.server.encoding == "gzip":
            part = gzip.compress(part)
        self.send_response(206)
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", f'"{self.server.version}"')
        self.end_headers()
        self.wfile.write(part)


def start(folder):
    """A host that runs beside the test."""
    host = Host(folder)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    return host


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    server = Host(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 8000)
    print(server.url, flush=True)
    server.serve_forever()
