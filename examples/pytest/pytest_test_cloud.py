"""Fixtures that start one cloud per pytest session and reset it for every test."""

import json
import os
import shlex
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from urllib.parse import urlencode

import openstack
import pytest

#: The command that starts a cloud; the environment variable TEST_CLOUD overrides it.
COMMAND = "npx --yes @apistrata/test-cloud"


class Cloud:
    """A running cloud: its address, its credentials and its control API."""

    def __init__(self, environment):
        #: The variables that clients read, such as OS_AUTH_URL.
        self.environment = environment
        self.url = environment["OS_AUTH_URL"].removesuffix("/identity/v3")

    def connect(self, user="admin", project="demo"):
        """Returns a Python SDK connection. A missing user or project is created, and the user becomes its member."""
        login = self.control("POST", "/logins", {"user": user, "project": project})["environment"]
        return openstack.connect(
            load_envvars=False,
            load_yaml_config=False,
            auth_url=login["OS_AUTH_URL"],
            username=login["OS_USERNAME"],
            password=login["OS_PASSWORD"],
            project_name=login["OS_PROJECT_NAME"],
            user_domain_name=login["OS_USER_DOMAIN_NAME"],
            project_domain_name=login["OS_PROJECT_DOMAIN_NAME"],
            region_name=login["OS_REGION_NAME"],
        )

    def control(self, method, path, body=None):
        """Sends a request to the control API; returns the decoded JSON of the response, or None if it is empty."""
        request = urllib.request.Request(
            f"{self.url}/_control{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from error
        return json.loads(text) if text else None

    @contextmanager
    def rule(self, **rule):
        """Applies a rule inside a ``with`` block: ``rule(http={"match": {"method": "POST"}, "status": 503})``.

        Yields a function that returns the number of requests or machine steps that the rule has matched.
        """
        path = f"/rules/{self.control('POST', '/rules', rule)['id']}"
        try:
            yield lambda: self.control("GET", path)["calls"]
        finally:
            self.control("DELETE", path)

    def requests(self, **query):
        """Returns the matching requests so far: ``requests(service="compute", method="POST", status="4xx", text="web")``."""
        return self.control("GET", f"/requests?{urlencode(query)}")["requests"]

    def advance(self, duration):
        """Advances the clock of the cloud: ``"5m"``, ``"1h30m"``."""
        self.control("POST", "/clock", {"advance": duration})

    def idle(self):
        """Waits until no background job is left."""
        self.control("POST", "/idle")


def read_environment(lines):
    """Returns the variables of ``export NAME=VALUE`` lines, up to the variable that a cloud prints last."""
    environment = {}
    for line in lines:
        name, value = shlex.split(line)[1].split("=", 1)
        environment[name] = value
        if name == "OS_IDENTITY_API_VERSION":
            return environment
    raise RuntimeError("the cloud exited before it printed its address")


@pytest.fixture(scope="session")
def test_cloud_session():
    """The cloud that all tests of a session share; tests use the fixture ``test_cloud`` instead."""
    command = [*shlex.split(os.environ.get("TEST_CLOUD", COMMAND)), "--port", "0", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield Cloud(read_environment(process.stdout))
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


@pytest.fixture
def test_cloud(test_cloud_session):
    """A cloud in its initial state: no servers, no rules, no journal."""
    test_cloud_session.control("POST", "/reset")
    return test_cloud_session


@pytest.fixture
def connection(test_cloud):
    """A Python SDK connection for an administrator in the project demo."""
    return test_cloud.connect()
