import type { HostileRequest } from './attack.js';
import type { Requester } from './requester.js';
import { namespace } from './templates.js';

const created = (path: string, value: unknown): HostileRequest => ({
  about: 'prepared',
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
});

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** A role with rules, and its binding to a group of the same name. */
function granted(name: string, rules: readonly object[]): HostileRequest[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  return [
    created(`${rbac}/clusterroles`, { metadata: { name }, rules }),
    created(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'Group', name }],
    }),
  ];
}

/** Creates a namespace, and users with rights. */
export async function prepare(requester: Requester): Promise<void> {
  const rules = [
    { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
    { nonResourceURLs: ['/*'], verbs: ['get'] },
  ];
  const objects = [
    created('/api/v1/namespaces', { metadata: { name: namespace } }),
    ...granted('attackers', rules),
    ...granted('poor', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: rules[0]!.verbs }]),
  ];
  for (const object of objects) {
    const { code, bytes } = await requester.send(object);
    if (code !== 201)
      throw new Error(`the server could not be prepared: ${code} ${bytes.toString('utf8').slice(0, 500)}`);
  }
}
