"""The operator of ../operator.mjs with the Python client."""

from datetime import datetime, timezone
from threading import Lock, Thread

from kubernetes.dynamic.exceptions import ConflictError, ForbiddenError, NotFoundError

GROUP = "cache.example.com"
FINALIZER = f"{GROUP}/finalizer"
MERGE_PATCH = "application/merge-patch+json"


class MemcachedOperator:
    """Keeps the Deployments of all Memcacheds of a namespace. `client` is a DynamicClient."""

    def __init__(self, client, namespace):
        self.namespace = namespace
        self.lock = Lock()
        self.memcacheds = client.resources.get(api_version=f"{GROUP}/v1alpha1", kind="Memcached")
        self.deployments = client.resources.get(api_version="apps/v1", kind="Deployment")
        self.events = client.resources.get(api_version="v1", kind="Event")

    def reconcile(self, name):
        """Brings the Deployment and the status of one Memcached up to date."""
        try:
            memcached = self.memcacheds.get(name=name, namespace=self.namespace).to_dict()
        except NotFoundError:
            return
        finalizers = memcached["metadata"].get("finalizers", [])
        if "deletionTimestamp" in memcached["metadata"]:
            if FINALIZER in finalizers:
                self._record_deletion(memcached)
                self._set_finalizers(memcached, [one for one in finalizers if one != FINALIZER])
            return
        if FINALIZER not in finalizers:
            self._set_finalizers(memcached, [*finalizers, FINALIZER])
        size = memcached["spec"]["size"]
        try:
            deployment = self.deployments.get(name=name, namespace=self.namespace).to_dict()
        except NotFoundError:
            deployment = self.deployments.create(body=deployment_of(memcached), namespace=self.namespace).to_dict()
        if deployment["spec"]["replicas"] != size:
            patch = {"spec": {"replicas": size}}
            deployment = self._merge(self.deployments, name, patch).to_dict()
        self._report_availability(memcached, deployment.get("status", {}).get("readyReplicas", 0))

    def run(self, until):
        """Reconciles what changes, each kind in a thread, until the event `until` is set."""
        kinds = (self.memcacheds, self.deployments)
        threads = [Thread(target=self._follow, args=(kind, until)) for kind in kinds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _follow(self, kind, until):
        """A Deployment has the name of its Memcached."""
        while not until.is_set():
            known = kind.get(namespace=self.namespace)
            for item in known.items:
                self._try(item.metadata.name)
            version = known.metadata.resourceVersion
            # Ends after a second, to look at `until` and to try again what has failed.
            for event in kind.watch(namespace=self.namespace, resource_version=version, timeout=1):
                self._try(event["object"].metadata.name)

    def _try(self, name):
        try:
            with self.lock:
                self.reconcile(name)
        except (ConflictError, NotFoundError):
            pass  # The next list finds it again.

    def _merge(self, resource, name, patch):
        return resource.patch(name=name, namespace=self.namespace, body=patch, content_type=MERGE_PATCH)

    def _set_finalizers(self, memcached, finalizers):
        metadata = {"resourceVersion": memcached["metadata"]["resourceVersion"], "finalizers": finalizers}
        self._merge(self.memcacheds, memcached["metadata"]["name"], {"metadata": metadata})

    def _report_availability(self, memcached, ready):
        size = memcached["spec"]["size"]
        status, message = str(ready >= size), f"{ready} of {size} Pods are ready"
        known = next(iter(memcached.get("status", {}).get("conditions", [])), {})
        if (known.get("status"), known.get("message")) == (status, message):
            return
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {
            "type": "Available",
            "status": status,
            "reason": "PodsReady" if ready >= size else "PodsNotReady",
            "message": message,
            "lastTransitionTime": known["lastTransitionTime"] if known.get("status") == status else now,
        }
        patch = {"status": {"conditions": [condition]}}
        self._merge(self.memcacheds.status, memcached["metadata"]["name"], patch)

    def _record_deletion(self, memcached):
        name, uid = memcached["metadata"]["name"], memcached["metadata"]["uid"]
        event = {
            "metadata": {"name": f"{name}.{uid}"},
            "involvedObject": reference_of(memcached) | {"namespace": self.namespace},
            "type": "Warning",
            "reason": "Deleting",
            "message": f"Memcached {name} is being deleted from the namespace {self.namespace}",
            "source": {"component": "memcached-operator"},
        }
        try:
            self.events.create(body=event, namespace=self.namespace)
        except (ConflictError, ForbiddenError):
            pass  # After a retry; in a namespace that is being deleted.


def reference_of(memcached):
    metadata = memcached["metadata"]
    fields = {"apiVersion": memcached["apiVersion"], "kind": memcached["kind"]}
    return fields | {"name": metadata["name"], "uid": metadata["uid"]}


def deployment_of(memcached):
    name = memcached["metadata"]["name"]
    labels = {"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": name}
    ports = [{"name": "memcached", "containerPort": memcached["spec"]["containerPort"]}]
    command = ["memcached", "-m=64"]
    container = {"name": "memcached", "image": "memcached:1.6-alpine", "command": command, "ports": ports}
    owner = reference_of(memcached) | {"controller": True}
    return {
        "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
        "spec": {
            "replicas": memcached["spec"]["size"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
