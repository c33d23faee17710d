"""Runs unmodified command-line clients, many commands in one process, because starting each takes longer than its work.

Reads lines of JSON, {"client": "openstack" | "nova", "argv": [...], "env": {...}}, and answers each with a line
{"code": exit status, "stdout": text, "stderr": text}.
"""

import contextlib
import io
import json
import logging
import os
import sys
import warnings

warnings.simplefilter("ignore")


def openstack(argv):
    from openstackclient import shell

    return shell.main(argv)


def nova(argv):
    from novaclient import shell

    return shell.main(argv)


CLIENTS = {"openstack": openstack, "nova": nova}


def run(client, argv, env):
    for name in [name for name in os.environ if name.startswith("OS_")]:
        del os.environ[name]
    os.environ.update(env)
    # Each command is a process of its own to the client: it finds the logging as it was at the start.
    for handler in list(logging.getLogger().handlers):
        logging.getLogger().removeHandler(handler)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = CLIENTS[client](argv)
        except SystemExit as exit_:
            code = exit_.code
        except BaseException as error:  # noqa: B902 - whatever a client throws is its failure
            print(repr(error), file=sys.stderr)
            code = 1
    if isinstance(code, str):
        err.write(code)
        code = 1
    return {"code": int(code or 0), "stdout": out.getvalue(), "stderr": err.getvalue()}


answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    answers.write(json.dumps(run(**json.loads(line))) + "\n")
    answers.flush()
