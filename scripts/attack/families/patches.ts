import type { Family, Requests } from '../attack.js';
import { filling, patch, post, remove } from '../requests.js';
import { namespace } from '../templates.js';
import {
  configMap,
  jsonPatches,
  mergePatches,
  operations,
  operationsMax,
  pod,
  role,
  strategicPatches,
} from './patch-rows.js';

/** Rows of a short run. */
const shortRows = new Set([
  ...[
    'splices at the front',
    'moves from the front to the end',
    'copies that double',
    'tests of a long list',
    'deep pointers',
  ],
  ...['many operations over the bound', 'different keys', 'containers by name', 'an order and its entries'],
  ...['finalizers as a set', 'an order of finalizers', 'removals of containers'],
]);

/** Patches of all types except apply that are costly to decode, compute or validate. */
export const patchesFamily: Family = {
  name: 'patches',
  *requests({ isShort }): Requests {
    const container = { name: 'main', image: 'example.com/i' };
    yield post('patched', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'patched', annotations: {} },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    });
    yield post('patched', `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'patched' },
      data: { a: 'b' },
    });
    yield post('patched', `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: 'patched' },
      spec: { automountServiceAccountToken: false, containers: [container] },
    });
    for (const [about, path, type, body] of [...jsonPatches, ...mergePatches, ...strategicPatches]) {
      if (isShort && !shortRows.has(about)) continue;
      yield patch(`${about} (${type})`, `${path}?dryRun=All`, body(), type);
    }
    if (!isShort) yield* onLargeObject();
    for (const path of [role, configMap, pod]) yield remove('patched', `${path}?gracePeriodSeconds=0`);
  },
};

/** Short patches of large objects. */
function* onLargeObject(): Requests {
  const large = '/apis/rbac.authorization.k8s.io/v1/clusterroles/large';
  const rules = filling((n) => `{"verbs":["get"],"apiGroups":[""],"resources":["r${n}"]}`, {
    head: '{"metadata":{"name":"large"},"rules":[',
    tail: ']}',
  });
  yield post('a large role', '/apis/rbac.authorization.k8s.io/v1/clusterroles', rules);
  yield patch('a label of a large object (mergePatch)', large, '{"metadata":{"labels":{"a":"b"}}}', 'mergePatch');
  yield patch(
    'a label of a large object (strategicPatch)',
    large,
    '{"metadata":{"labels":{"a":"c"}}}',
    'strategicPatch',
  );
  yield patch(
    'a label of a large object (applyPatch)',
    `${large}?fieldManager=m&force=true`,
    '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"large","labels":{"a":"d"}}}',
    'applyPatch',
  );
  yield patch(
    'splices in a large object (jsonPatch)',
    large,
    operations(operationsMax, () => ({
      op: 'add',
      path: '/rules/0',
      value: { verbs: ['get'], apiGroups: [''], resources: ['x'] },
    })),
    'jsonPatch',
  );
  yield patch('nothing (mergePatch)', large, '{}', 'mergePatch');
  yield remove('a large role', large);
}
