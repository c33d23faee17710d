import os
import subprocess

import openstack
import pytest

COMMAND = os.environ.get("TEST_CLOUD", "npx --yes @apistrata/test-cloud").split()


@pytest.fixture(scope="session")
def cloud():
    process = subprocess.Popen([*COMMAND, "--port", "0", "--quiet"], stdout=subprocess.PIPE, text=True)
    # The environment to export, one variable per line; the last one marks the end.
    while "OS_IDENTITY_API_VERSION" not in os.environ:
        name, value = process.stdout.readline().removeprefix("export ").strip().split("=", 1)
        os.environ[name] = value
    yield openstack.connect()
    process.terminate()
    process.wait()


def test_boots_a_server(cloud):
    server = cloud.create_server("web", image="cirros", flavor="m1.tiny", network="private", wait=True, auto_ip=False)
    assert server.status == "ACTIVE"
    cloud.delete_server("web", wait=True)
    assert cloud.list_servers() == []
