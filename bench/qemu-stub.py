#!/usr/bin/env python3
"""Replaces QEMU in benchmarks that do not measure QEMU itself: implements its control protocol and runs no guest.

Prints a line on the console when it receives `cont`. Records the times at which it started, began to listen and
received `cont`, and the last time at which a program that had connected queried the status for the first time.
"""
import json
import os
import re
import selectors
import socket
import sys
import time


def start_time():
    """Returns the start time of this process, in seconds since the epoch. The interpreter was ready only later."""
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    with open("/proc/uptime") as file:
        uptime = float(file.read().split()[0])
    return time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")


STARTED = start_time()
arguments = sys.argv[1:]
if "-qmp" not in arguments:
    sys.exit(0)


def option(name):
    return arguments[arguments.index(name) + 1]


if option("-qmp") == "stdio":
    # The queries about CPU models, which a host sends when it starts.
    description = {"model": {"props": {"vendor": "AuthenticAMD", "model-id": "stub"}}}
    models = [{"name": name, "unavailable-features": []} for name in ("host", "max", "base", "qemu64")]
    values = {"query-cpu-definitions": models, "query-cpu-model-expansion": description}
    for line in sys.stdin:
        print(json.dumps({"return": values.get(json.loads(line)["execute"], {})}))
    sys.exit(0)

with open(option("-pidfile"), "w") as file:
    file.write(str(os.getpid()))
listener = socket.socket(socket.AF_UNIX)
listener.bind(re.match("unix:([^,]*)", option("-qmp")).group(1))
listener.listen(4)
LISTENING = time.time()
status = "prelaunch"
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)


def start_guest():
    global status
    status = "running"
    log = next(re.search("logfile=([^,]*)", text).group(1) for text in arguments if "logfile=" in text)
    with open("times.json", "w") as file:
        json.dump({"begun": STARTED, "listening": LISTENING, "going": time.time()}, file)
    with open(log, "a") as file:
        file.write("GUEST begins\n")


def values_of_queries():
    return {
        "query-status": {"status": status},
        "query-balloon": {"actual": 2**25},
        "query-cpus-fast": [],
        "query-blockstats": [],
    }


def respond(client, message):
    command = message["execute"]
    value = values_of_queries().get(command, {})
    if command == "cont":
        start_guest()
    if command == "query-status" and client not in known:
        known.add(client)
        with open("adopted", "w") as file:
            file.write(str(time.time()))
    client.sendall(json.dumps({"return": value, "id": message.get("id")}).encode() + b"\n")
    if command == "quit":
        sys.exit(0)


def receive(client):
    data = client.recv(65536)
    if not data:
        raise ConnectionResetError
    *lines, rest[client] = (rest[client] + data).split(b"\n")
    for line in lines:
        respond(client, json.loads(line))


rest = {}
known = set()
while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            client, _ = listener.accept()
            client.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\n')
            selector.register(client, selectors.EVENT_READ)
            rest[client] = b""
            continue
        client = key.fileobj
        try:
            receive(client)
        except ConnectionError:
            # The client has closed the connection, or was killed.
            selector.unregister(client)
            known.discard(client)
            client.close()
