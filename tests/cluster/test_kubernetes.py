"""The manifest for Kubernetes: its schemas accept it, and it agrees with itself and with us."""

from pathlib import Path

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from harness.cli import cluster
from harness.cluster import tls
from harness.cluster.worker_files import MEMORY

MANIFEST = Path(__file__).parents[2] / "container" / "kubernetes.yaml"
FOUND = list(YAML(typ="safe").load_all(MANIFEST.read_text()))
VERSION = kubernetes_validate.latest_version()
COMMANDS = {"cluster": cluster.CLUSTER, "worker": cluster.WORKER}


def of_kind(kind):
    return [one for one in FOUND if one["kind"] == kind]


def pod(deployment):
    return deployment["spec"]["template"]["spec"]


def containers():
    return [one for deployment in of_kind("Deployment") for one in pod(deployment)["containers"]]


@pytest.mark.parametrize("one", FOUND, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_the_schemas_accept_it(one):
    kubernetes_validate.validate(one, VERSION, strict=True)


@pytest.mark.parametrize("one", containers(), ids=lambda one: one["name"])
def test_our_commands_take_the_arguments(one):
    name, *words = one["args"]
    assert COMMANDS[name].parser().read([word.replace("$(POD_IP)", "10.0.0.1") for word in words])


@pytest.mark.parametrize("one", of_kind("Deployment"), ids=lambda one: one["metadata"]["name"])
def test_each_part_has_the_certificate_of_its_role_and_no_other(one):
    name = one["metadata"]["name"]
    assert name in tls.ROLES
    mounted = {place["name"]: place for place in pod(one)["volumes"]}
    assert mounted["certificates"]["secret"]["secretName"] == name
    (container,) = pod(one)["containers"]
    places = {place["name"]: place["mountPath"] for place in container["volumeMounts"]}
    assert container["args"][container["args"].index("--tls") + 1] == places["certificates"]
    assert places.keys() == mounted.keys()
    assert tls.CA in (Path(__file__).parents[2] / "docs/cluster.md").read_text()


def test_who_is_selected_is_there():
    parts = [one["spec"]["template"]["metadata"]["labels"] for one in of_kind("Deployment")]
    (service,), (policy,) = of_kind("Service"), of_kind("NetworkPolicy")
    rules = policy["spec"]["ingress"] + policy["spec"]["egress"]
    peers = [peer for rule in rules for peer in rule.get("from", []) + rule.get("to", [])]
    named = [peer["podSelector"]["matchLabels"] for peer in peers if "podSelector" in peer]
    named += [service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]]
    named += [one["spec"]["selector"]["matchLabels"] for one in of_kind("Deployment")]
    assert all(one in parts for one in named)
    assert {one["metadata"]["namespace"] for one in FOUND if one["kind"] != "Namespace"} == {
        of_kind("Namespace")[0]["metadata"]["name"]
    }


def test_workers_keep_case_files_in_memory_and_have_no_rights_on_their_node():
    (found,) = [one for one in of_kind("Deployment") if one["metadata"]["name"] == "worker"]
    (container,) = pod(found)["containers"]
    (cases,) = [one for one in container["volumeMounts"] if one["mountPath"] == str(MEMORY)]
    (volume,) = [one for one in pod(found)["volumes"] if one["name"] == cases["name"]]
    assert volume["emptyDir"]["medium"] == "Memory"
    assert pod(found)["hostUsers"] is False
    assert "privileged" not in container["securityContext"]
    assert not [one for one in pod(found)["volumes"] if "hostPath" in one]
