"""The studio's server: who may ask, what is answered, and how it ends.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import tap

DATA = "x1,x2,class\n0,0,A\n1,0,B\n0,1,B\n1,1,A\n2,0.5,B\n-1,0.2,A\n"


class Studio:
    def __init__(self, process, address):
        self.process = process
        self.address = address
        parts = urllib.parse.urlsplit(address)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def raw(self, method, path, body=None, host=None, **headers):
        link = http.client.HTTPConnection(self.host, self.port, timeout=60)
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        headers["Host"] = host or "%s:%d" % (self.host, self.port)
        link.request(method, path, body, headers)
        answer = link.getresponse()
        got = answer.status, answer.read(), dict(answer.getheaders())
        link.close()
        return got

    def ask(self, page="t1", **request):
        status, body, _ = self.raw("POST", self.path + "api?page=" + page, json.dumps(request),
                                   Content_Type="application/json")
        tap.check_equal(status, 200, "status")
        return json.loads(body)


@contextlib.contextmanager
def studio(*args):
    process = subprocess.Popen([tap.MERCER, "studio", "--json", *args], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    try:
        if not line.startswith('{"address"'):
            why = process.stderr.read()
            if "without a server" in why or "without a server" in line:
                tap.skip("built without libmicrohttpd")
            raise AssertionError(line + why)
        yield Studio(process, json.loads(line)["address"])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)
        process.stdout.close()
        process.stderr.close()


def test_page_is_served_and_loads_nothing():
    with studio() as s:
        assert s.host == "127.0.0.1" and len(s.path) == 34, s.address
        status, body, headers = s.raw("GET", s.path)
        tap.check_equal(status, 200)
        text = body.decode()
        assert "<title>Mercer studio" in text and "default-src 'none'" in text
        assert len(body) <= 300_000
        assert "http://" not in text.replace("http://www.w3.org/", "") and "https://" not in text
        tap.check_equal(headers["Cache-Control"], "no-store")
        tap.check_equal(headers["X-Content-Type-Options"], "nosniff")


def test_only_its_own_page_may_ask():
    with studio() as s:
        for path in ("/", "/favicon.ico", "/" + "0" * 32 + "/", s.path[:-2] + "/", "/../etc/passwd", "//"):
            tap.check_equal(s.raw("GET", path)[0], 403, path)
        for host in ("evil.example", "evil.example:%d" % s.port, "127.0.0.1", "127.0.0.1:1", ""):
            tap.check_equal(s.raw("GET", s.path, host=host or " ")[0], 403, "Host " + host)
        tap.check_equal(s.raw("GET", s.path, host="localhost:%d" % s.port)[0], 200)
        for origin in ("http://evil.example", "https://127.0.0.1:%d" % s.port, "null"):
            tap.check_equal(s.raw("POST", s.path + "api?page=a", "{}", Origin=origin,
                                  Content_Type="application/json")[0], 403, origin)
        tap.check_equal(s.raw("POST", s.path + "api?page=a", "{}", Content_Type="text/plain")[0], 415)
        tap.check_equal(s.raw("POST", s.path + "api", "{}", Content_Type="application/json")[0], 400)
        tap.check_equal(s.raw("POST", s.path + "api?page=../x", "{}", Content_Type="application/json")[0], 400)
        tap.check_equal(s.raw("GET", s.path + "etc/passwd")[0], 404)
        tap.check_equal(s.raw("PUT", s.path, "x")[0], 405)


def test_listens_on_this_machine_only():
    with studio() as s:
        with open("/proc/%d/net/tcp" % s.process.pid) as table:
            rows = [line.split() for line in table.read().splitlines()[1:]]
        mine = {row[1] for row in rows if row[3] == "0A" and row[1].endswith(":%04X" % s.port)}
        tap.check_equal(mine, {"0100007F:%04X" % s.port})
        with open("/proc/%d/net/tcp6" % s.process.pid) as table:
            assert ":%04X 0000" % s.port not in table.read()


def test_a_body_has_a_limit():
    with studio() as s:
        link = socket.create_connection((s.host, s.port), timeout=60)
        head = "POST %sapi?page=a HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: application/json\r\n" \
               "Content-Length: %d\r\n\r\n" % (s.path, s.host, s.port, 70 << 20)
        link.sendall(head.encode())
        piece = b" " * (1 << 20)
        with contextlib.suppress(OSError):
            for _ in range(70):
                link.sendall(piece)
        answer = link.recv(4096)
        link.close()
        assert b" 413 " in answer.split(b"\r\n")[0], answer[:80]
        assert s.ask(do="parse", kernel="linear")["ok"]


def test_silent_strangers_are_sent_away():
    """Who has not shown the token keeps no connection for long: there are 64, and the page needs one."""
    with studio() as s:
        links = []
        with contextlib.suppress(OSError):
            for _ in range(80):
                links.append(socket.create_connection((s.host, s.port), timeout=60))
                links[-1].sendall(b"GET /")
        tap.check_equal(links[0].recv(1), b"", "the first stranger")  # the end, in seconds and not in minutes
        status = 0
        for _ in range(60):
            with contextlib.suppress(OSError, http.client.HTTPException):
                status = s.raw("GET", s.path)[0]
            if status == 200:
                break
            time.sleep(0.5)
        tap.check_equal(status, 200, "the page")
        tap.check_equal(s.raw("GET", "/")[2].get("Connection"), "close", "who is refused")
        for link in links:
            link.close()


def test_models_are_those_of_the_program():
    with open("points.csv", "w") as file:
        file.write(DATA)
    with studio() as s:
        for learner, options, words in (("svm", {"C": "10"}, ["-C", "10"]),
                                        ("logistic", {}, []),
                                        ("kmeans", {"clusters": "2"}, ["--clusters", "2"]),
                                        ("pca", {}, [])):
            answer = s.ask(do="fit", learner=learner, options=options, kernel="rbf(gamma=0.5)",
                           data={"name": "points.csv", "text": DATA})
            assert answer["ok"], answer
            got = base64.b64decode(s.ask(do="model")["base64"])
            tap.mercer("fit", learner, "points.csv", "-k", "rbf(gamma=0.5)", *words, "-o", "m.mercer")
            with open("m.mercer", "rb") as file:
                assert file.read() == got, learner + ": other bytes"


def test_begins_with_a_file():
    tap.mercer("sample", "rings", "-n", "500", "-o", "rings.csv")
    with studio("rings.csv") as s:
        hello = s.ask(do="hello")
        tap.check_equal((hello["given"]["n"], hello["given"]["name"]), (500, "rings.csv"))
        fit = s.ask(do="fit", learner="svm", kernel="rbf(gamma=1)", data="given",
                    plane={"x": [-2, 2], "y": [-2, 2], "nx": 10, "ny": 10})
        tap.check_equal(fit["report"]["n"], 500)
        scores = base64.b64decode(fit["plane"]["score"])
        tap.check_equal(len(scores), 400)


SLOW = dict(do="cv", learner="gp", kernel="rbf(gamma=1)", folds=20, data="given")


def test_time_limit_cancel_and_newer_requests():
    tap.mercer("sample", "sinc", "-n", "1500", "-o", "sinc.csv")
    with studio("sinc.csv", "--limit", "1") as s:
        began = time.monotonic()
        answer = s.ask(**SLOW)
        assert not answer["ok"] and answer["error"]["late"], answer
        assert time.monotonic() - began < 30
    with studio("sinc.csv", "--limit", "300") as s:
        answers = []
        first = threading.Thread(target=lambda: answers.append(s.ask(**SLOW)))
        first.start()
        wait_until(lambda: busy(s.process.pid))
        # Another page has its own engine; a newer request of the same one takes the place.
        assert s.ask(page="t2", do="parse", kernel="linear")["ok"]
        assert s.ask(do="parse", kernel="linear")["ok"]
        first.join(60)
        assert answers and answers[0]["error"]["stopped"], answers
        # A browser that goes away ends its request: the next Ctrl-C finds nothing to wait for.
        link = http.client.HTTPConnection(s.host, s.port)
        link.request("POST", s.path + "api?page=t3", json.dumps(SLOW), {"Content-Type": "application/json"})
        wait_until(lambda: busy(s.process.pid))
        link.close()
        wait_until(lambda: not busy(s.process.pid))


def wait_until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that in %g s" % seconds


def busy(pid):
    """Whether the process computes: processor time in 50 ms."""
    def used():
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return int(fields[11]) + int(fields[12])
    before = used()
    time.sleep(0.1)
    return used() - before >= 3


def test_ends_by_itself_and_by_interrupt():
    with studio("--idle", "0.002") as s:
        tap.check_equal(s.process.wait(30), 0)
    with studio() as s:
        s.process.send_signal(signal.SIGINT)
        tap.check_equal(s.process.wait(30), 0)


def test_calls_that_are_off():
    assert "port" in tap.mercer("studio", "--port", "0", status=2).stderr
    assert tap.mercer("studio", "nothing.csv", status=1).stderr
    done = tap.mercer("studio", "-o", "page.html", status=None)
    if done.returncode:
        assert "-Dweb=enabled" in done.stderr, done.stderr
        assert not os.path.exists("page.html")
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    done = tap.mercer("studio", "--port", str(taken.getsockname()[1]), "--idle", "0.001", status=1)
    assert "port" in done.stderr or "without a server" in done.stderr, done.stderr
    taken.close()


def test_a_missing_libmicrohttpd_is_said():
    with open("libmicrohttpd.so.12", "w"):
        pass
    done = tap.mercer("studio", "--idle", "0.001", env={"LD_LIBRARY_PATH": os.getcwd()}, status=1)
    assert "install libmicrohttpd" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_other_verbs_load_no_server():
    libraries = subprocess.run(["ldd", tap.MERCER], capture_output=True, text=True).stdout
    assert "libc." in libraries or "not a dynamic" in libraries, libraries
    assert "microhttpd" not in libraries and "gnutls" not in libraries, libraries


if __name__ == "__main__":
    tap.main(globals())
