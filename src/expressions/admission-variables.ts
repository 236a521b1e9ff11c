import { bool, dynamic, integer, list, map, struct, text, timestamp } from './declared-types.js';

const kind = struct('kubernetes.GroupVersionKind', { group: text, version: text, kind: text });
const resource = struct('kubernetes.GroupVersionResource', { group: text, version: text, resource: text });
const userInfo = struct('kubernetes.UserInfo', {
  username: text,
  uid: text,
  groups: list(text),
  extra: map(text, list(text)),
});

/** `request`: the AdmissionRequest without uid, object and oldObject. */
export const requestType = struct('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: text,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo,
  dryRun: bool,
  options: dynamic,
});

/** `namespaceObject`: the fields of the namespace that expressions see. `UID` is the name that the reference has. */
export const namespaceType = struct('kubernetes.Namespace', {
  metadata: struct('kubernetes.NamespaceMetadata', {
    name: text,
    generateName: text,
    namespace: text,
    labels: map(text, text),
    annotations: map(text, text),
    UID: text,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: integer,
    deletionTimestamp: timestamp,
    generation: integer,
    resourceVersion: text,
    finalizers: list(text),
  }),
  spec: struct('kubernetes.NamespaceSpec', { finalizers: list(text) }),
  status: struct('kubernetes.NamespaceStatus', {
    conditions: list(
      struct('kubernetes.NamespaceCondition', {
        status: text,
        type: text,
        lastTransitionTime: timestamp,
        message: text,
        reason: text,
      }),
    ),
    phase: text,
  }),
});
