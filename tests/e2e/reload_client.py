"""Load that tells a lost answer from one that could not be: for tests/e2e/reload.

  reload_client.py crash PORT PATH FILE PIDFILE SIGNAL KILLS   workers of the master are killed under load
  reload_client.py stop PORT PATH FILE PIDFILE SIGNAL          the server is told to stop while answers are on the way
FILE holds what every answer must be. A request whose connection was refused has not been lost: nobody took it.
"""
import http.client
import os
import signal
import socket
import sys
import threading
import time

CONNECTIONS = 8


def fail(text):
    print(text)
    sys.exit(1)


def children(pid):
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{p}/stat", encoding="utf-8", errors="replace") as f:
                rest = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(rest[1]) == pid and rest[0] not in "ZX":
            found.append(int(p))
    return sorted(found)


class Load:
    """Threads that ask for one path over and over, each time by a new connection."""

    def __init__(self, port, path, body):
        self.port, self.path, self.body = port, path, body
        self.lost, self.good, self.ended = [], 0, False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.ask_on) for _ in range(CONNECTIONS)]
        for t in self.threads:
            t.start()

    def ask(self):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        c.request("GET", self.path)
        r = c.getresponse()
        body = r.read()
        c.close()
        if r.status != 200 or body != self.body:
            raise ValueError(f"status {r.status}, {len(body)} bytes")

    def ask_on(self):
        while not self.ended:
            try:
                self.ask()
                with self.lock:
                    self.good += 1
            except (OSError, http.client.HTTPException, ValueError) as e:
                with self.lock:
                    self.lost.append(repr(e))

    def end(self):
        self.ended = True
        for t in self.threads:
            t.join()


def wait_for(what, condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            fail(f"no {what} within {seconds} s")
        time.sleep(0.02)


def crash(port, path, body, master, sig, kills):
    workers = len(children(master))
    load = Load(port, path, body)
    wait_for("answers", lambda: load.good > 100)
    for _ in range(kills):
        victim = children(master)[0]
        os.kill(victim, sig)
        wait_for("new worker", lambda v=victim: v not in children(master) and len(children(master)) == workers)
        before = load.good
        wait_for("answers after a crash", lambda b=before: load.good > b + 100)
    load.end()
    lost = len(load.lost)
    print(f"{kills} workers ended by signal {sig}, {load.good} answers, {lost} lost, "
          f"at most {kills * CONNECTIONS} could be on the way")
    if lost > kills * CONNECTIONS:
        fail(load.lost[-1])
    for _ in range(200):  # and now none at all
        load.ask()


def receive(s, body, ret, i):
    """Slowly, so that the server is still sending for some seconds."""
    got = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            got += part
            time.sleep(0.01)
        head, _, rest = got.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            ret[i] = f"{head[:40]!r}"
        elif rest != body:
            ret[i] = f"{len(rest)} of {len(body)} bytes"
        else:
            ret[i] = ""
    except OSError as e:
        ret[i] = f"{e!r} after {len(got)} bytes"
    s.close()


def stop(port, path, body, master, sig):
    answers, threads = [None] * CONNECTIONS, []
    for i in range(CONNECTIONS):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        s.settimeout(30)
        s.connect(("127.0.0.1", port))
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        threads.append(threading.Thread(target=receive, args=(s, body, answers, i)))
    for t in threads:
        t.start()
    time.sleep(0.5)
    if any(a is not None for a in answers):
        fail("an answer was over before the server was told to stop: make the file larger")
    os.kill(master, sig)
    for t in threads:
        t.join()
    wait_for("end of the server", lambda: not is_alive(master))
    lost = [a for a in answers if a]
    print(f"{CONNECTIONS} answers on the way at signal {sig}, {len(lost)} lost")
    if lost:
        fail(lost[0])


def is_alive(pid):
    """Whether a process lives: one that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def main():
    what, port, path, file, pidfile, sig = sys.argv[1:7]
    with open(file, "rb") as f:
        body = f.read()
    with open(pidfile, encoding="ascii") as f:
        master = int(f.read())
    number = int(getattr(signal, "SIG" + sig))
    if what == "crash":
        crash(int(port), path, body, master, number, int(sys.argv[7]))
    else:
        stop(int(port), path, body, master, number)


main()
