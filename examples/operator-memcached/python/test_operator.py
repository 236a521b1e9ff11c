"""On the server of $KUBECONFIG: keelson test -f ../crd.yaml -- python3 -m unittest"""

import time
import unittest
from threading import Event, Thread

from kubernetes import config, dynamic
from kubernetes.dynamic.exceptions import NotFoundError, UnprocessibleEntityError

from operator_memcached import MERGE_PATCH, MemcachedOperator

NAMESPACE = "memcached-python"


class OperatorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        client = dynamic.DynamicClient(config.new_client_from_config())
        namespaces = client.resources.get(api_version="v1", kind="Namespace")
        namespaces.create(body={"metadata": {"name": NAMESPACE}})
        cls.operator = MemcachedOperator(client, NAMESPACE)
        cls.until = Event()
        cls.thread = Thread(target=cls.operator.run, args=(cls.until,), daemon=True)
        cls.thread.start()

    @classmethod
    def tearDownClass(cls):
        cls.until.set()
        cls.thread.join()

    def create(self, name, size):
        body = {"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached"}
        body |= {"metadata": {"name": name}, "spec": {"size": size}}
        return self.operator.memcacheds.create(body=body, namespace=NAMESPACE)

    def patch(self, resource, name, body):
        return resource.patch(name=name, namespace=NAMESPACE, body=body, content_type=MERGE_PATCH)

    def eventually(self, resource, name, is_ready):
        """Returns the object once is_ready accepts it; None is passed if it does not exist."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                found = resource.get(name=name, namespace=NAMESPACE)
            except NotFoundError:
                found = None
            if is_ready(found):
                return found
            time.sleep(0.01)
        self.fail(f"{name} did not become as expected")

    def deployment(self, name, is_ready=lambda found: found is not None):
        return self.eventually(self.operator.deployments, name, is_ready)

    def test_deployment_has_the_size_and_the_owner(self):
        memcached = self.create("owned", 3)
        deployment = self.deployment("owned")
        self.assertEqual(deployment.spec.replicas, 3)
        self.assertEqual(deployment.metadata.ownerReferences[0].uid, memcached.metadata.uid)

    def test_forbidden_size_is_refused(self):
        with self.assertRaises(UnprocessibleEntityError):
            self.create("large", 9)

    def test_replicas_follow_the_size(self):
        self.create("scaled", 2)
        self.deployment("scaled")
        changed = self.patch(self.operator.deployments, "scaled", {"spec": {"replicas": 7}})
        newer = lambda found: found.metadata.generation > changed.metadata.generation
        self.deployment("scaled", lambda found: newer(found) and found.spec.replicas == 2)
        self.patch(self.operator.memcacheds, "scaled", {"spec": {"size": 4}})
        self.deployment("scaled", lambda found: found.spec.replicas == 4)

    def test_available_once_all_pods_are_ready(self):
        self.create("ready", 2)
        has = lambda status: lambda found: found.status and found.status.conditions[0].status == status
        self.eventually(self.operator.memcacheds, "ready", has("False"))
        status = {"status": {"replicas": 2, "readyReplicas": 2}}
        self.patch(self.operator.deployments.status, "ready", status)
        self.eventually(self.operator.memcacheds, "ready", has("True"))

    def test_deletion_is_recorded(self):
        self.create("deleted", 1)
        self.deployment("deleted")
        self.operator.memcacheds.delete(name="deleted", namespace=NAMESPACE)
        self.eventually(self.operator.memcacheds, "deleted", lambda found: found is None)
        selector = "involvedObject.name=deleted"
        events = self.operator.events.get(namespace=NAMESPACE, field_selector=selector)
        self.assertEqual(events.items[0].reason, "Deleting")


if __name__ == "__main__":
    unittest.main()
