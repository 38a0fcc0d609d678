"""A registry of schemas that answers as Confluent's does, in this process."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote
from urllib.request import Request, urlopen


@contextmanager
def registry():
    """A registry: its address, and what it knows, which a test may change.

    What it answers to who makes a schema known may be a status and its words.
    """
    subjects = {}
    asked = []

    class Answers(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append(self.headers.get("Authorization"))
            _, _, name, _, *version = map(unquote, self.path.split("/"))
            known = subjects.get(name)
            if known is None:
                self.answer(404, {"error_code": 40401})
            elif isinstance(known, tuple):
                self.answer(200, [])
            elif isinstance(known, str):
                self.answer(500 if known == "broken" else 200, known)
            elif version:
                number, more = known[int(version[0]) - 1]
                self.answer(200, {"id": number, **more})
            else:
                self.answer(200, [*range(1, len(known) + 1)])

        def do_POST(self):
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = subjects.setdefault(unquote(self.path.split("/")[2]), [])
            if not isinstance(known, list):
                self.answer(*known)
                return
            number = next((it for it, one in known if one == told), 0)
            if not number:
                number = sum(map(len, subjects.values())) + 1
                known.append((number, told))
            self.answer(200, {"id": number})

        def answer(self, status, what):
            body = (what if isinstance(what, str) else json.dumps(what)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", subjects, asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def make_known(url, name, schema, *subjects):
    """Makes a schema, which refers to subjects by their names, known to a registry.

    Returns its number.
    """
    told = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
    refers = [{"name": it, "subject": it, "version": 1} for it in subjects]
    more = {"references": refers} if refers else {}
    body = json.dumps({"schema": schema, **more}).encode()
    with urlopen(Request(f"{url}/subjects/{name}/versions", body, told)) as answer:
        return json.load(answer)["id"]
