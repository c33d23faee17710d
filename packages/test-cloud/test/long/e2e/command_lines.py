"""Runs many commands of unmodified clients in one process, because starting a client takes longer than its command.

Reads lines of JSON, {"client": "openstack" | "nova" | ..., "argv": [...], "env": {...}}, and responds to each with a line
{"code": exit status, "stdout": text, "stderr": text}.
"""

import contextlib
import io
import json
import logging
import os
import sys
import time
import warnings

warnings.simplefilter("ignore")


def openstack(argv):
    from openstackclient import shell

    return shell.main(argv)


def nova(argv):
    from novaclient import shell

    return shell.main(argv)


def glance(argv):
    from glanceclient.common import utils
    from glanceclient.shell import OpenStackImagesShell

    # Handles exceptions of the client's shell like its own entry point.
    try:
        return OpenStackImagesShell().main(argv)
    except Exception as error:  # noqa: B902
        return utils.exit(str(error))


def cinder(argv):
    from cinderclient import shell

    return shell.OpenStackCinderShell().main(argv)


def neutron(argv):
    from neutronclient import shell

    return shell.NeutronShell("2.0").run(argv)


CLIENTS = {"openstack": openstack, "nova": nova, "glance": glance, "cinder": cinder, "neutron": neutron}


def run(client, argv, env):
    for name in [name for name in os.environ if name.startswith("OS_")]:
        del os.environ[name]
    os.environ.update(env)
    # The client expects a new process for each command, so logging is reset to its initial state.
    for handler in list(logging.getLogger().handlers):
        logging.getLogger().removeHandler(handler)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = CLIENTS[client](argv)
        except SystemExit as exit_:
            code = exit_.code
        except BaseException as error:  # noqa: B902 - any exception is a failure of the client
            print(repr(error), file=sys.stderr)
            code = 1
    if isinstance(code, str):
        err.write(code)
        code = 1
    return {"code": int(code or 0), "stdout": out.getvalue(), "stderr": err.getvalue()}


def short_sleep(seconds, sleep=time.sleep):
    """Shortens the polling interval of clients from 2 or 5 seconds: here, operations complete in a few milliseconds."""
    sleep(min(seconds, 0.05))


time.sleep = short_sleep


class Terminal(io.StringIO):
    """The standard input of the clients: a terminal without input, in place of the JSON lines."""

    def isatty(self):
        return True


responses = os.fdopen(os.dup(1), "w")
commands = sys.stdin
sys.stdin = Terminal()
for line in commands:
    responses.write(json.dumps(run(**json.loads(line))) + "\n")
    responses.flush()
