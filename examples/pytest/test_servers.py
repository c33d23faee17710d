"""Example tests for a project that uses the fixtures."""

import openstack.exceptions
import pytest

SERVER = {"image": "cirros", "flavor": "m1.tiny", "network": "private"}


def test_boots_a_server(test_cloud, connection):
    server = connection.create_server("web", **SERVER, wait=True, auto_ip=False)
    assert server.status == "ACTIVE"
    (created,) = test_cloud.requests(method="POST", url="/servers")
    assert created["requestBody"]["server"]["name"] == "web"


def test_starts_with_an_empty_cloud(connection):
    assert connection.list_servers() == []


def test_reports_that_no_host_was_found(test_cloud, connection):
    with test_cloud.rule(machine={"match": {"verb": "spawn"}, "fail": "no luck"}) as calls:
        with pytest.raises(openstack.exceptions.SDKException):
            connection.create_server("web", **SERVER, wait=True, auto_ip=False)
        assert calls() > 0


def test_retries_after_an_error(test_cloud, connection):
    with test_cloud.rule(http={"match": {"path": "/compute/v2.1/servers/detail"}, "status": 503, "times": 1}):
        with pytest.raises(openstack.exceptions.HttpException):
            list(connection.compute.servers())
        assert list(connection.compute.servers()) == []


def test_distinguishes_members_from_administrators(test_cloud):
    member = test_cloud.connect("ada", "lab")
    with pytest.raises(openstack.exceptions.HttpException) as error:
        list(member.compute.hypervisors())
    assert error.value.status_code == 403
    assert len(list(test_cloud.connect().compute.hypervisors())) == 2
