import { admitted, attributesOf, hooksOf } from '../../../test/harness/admission.js';
import type { ApiError } from '../../machinery/api-error.js';
import { namespaceExists } from './namespace-exists.plugin.js';
import { namespaceLifecycle } from './namespace-lifecycle.plugin.js';

const terminatingNamespace = { metadata: { name: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z' } };
const active = { metadata: { name: 'ns' } };
const object = { metadata: { name: 'x' } };
const terminating = 'unable to create new content in namespace ns because it is being terminated';

it.each([
  { name: 'active accepts new objects', known: [active], write: {}, want: undefined },
  { name: 'missing refuses new objects', known: [], write: {}, want: 'namespaces "ns" not found' },
  { name: 'terminating refuses new objects', known: [terminatingNamespace], write: {}, want: terminating },
  { name: 'terminating accepts updates', known: [terminatingNamespace], write: { old: object }, want: undefined },
  {
    name: 'terminating accepts evictions',
    known: [terminatingNamespace],
    write: { of: '/pods/eviction' },
    want: undefined,
  },
  {
    name: 'missing accepts LocalSubjectAccessReviews',
    known: [],
    write: { of: 'authorization.k8s.io/localsubjectaccessreviews' },
    want: undefined,
  },
  {
    name: 'missing refuses objects of another group with that plural name',
    known: [],
    write: { of: 'example.com/localsubjectaccessreviews' },
    want: 'namespaces "ns" not found',
  },
  {
    name: 'missing does not matter for cluster-scoped objects',
    known: [],
    write: { of: '/nodes', clusterWide: true },
    want: undefined,
  },
])('a namespace that is $name', async ({ known, write, want }) => {
  const plugin = hooksOf(namespaceLifecycle, { known: { '/namespaces': known } });
  expect((await admitted(plugin, { object, ...write })).refused).toBe(want);
});

it.each([
  ['default', 'this namespace may not be deleted'],
  ['kube-system', 'this namespace may not be deleted'],
  ['kube-public', 'this namespace may not be deleted'],
  ['kube-node-lease', undefined],
  ['mine', undefined],
])('the deletion of %s: %s', async (name, want) => {
  const plugin = hooksOf(namespaceLifecycle);
  const attributes = { ...attributesOf({ of: '/namespaces', operation: 'DELETE', clusterWide: true }), name };
  const refused = await (async () => plugin.admit!(attributes))().catch(
    (error: unknown) => (error as ApiError).message,
  );
  expect(refused).toBe(want === undefined ? undefined : `namespaces "${name}" is forbidden: ${want}`);
});

it('NamespaceExists refuses updates, too, if the namespace is missing', async () => {
  const refusals = [{ '/namespaces': [active] }, {}].map((known) =>
    admitted(hooksOf(namespaceExists, { known }), { object, old: object }).then(({ refused }) => refused),
  );
  expect(await Promise.all(refusals)).toEqual([undefined, 'namespaces "ns" not found']);
});
