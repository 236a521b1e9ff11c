import { admitted, attributesOf, pluginParts } from '../../../test/harness/admission.js';
import type { ApiError } from '../../machinery/api-error.js';
import { namespaceExists } from './namespace-exists.plugin.js';
import { namespaceLifecycle } from './namespace-lifecycle.plugin.js';

const going = { metadata: { name: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z' } };
const there = { metadata: { name: 'ns' } };
const object = { metadata: { name: 'x' } };
const terminating = 'unable to create new content in namespace ns because it is being terminated';

it.each([
  { name: 'there', known: [there], write: {}, want: undefined },
  { name: 'missing', known: [], write: {}, want: 'namespaces "ns" not found' },
  { name: 'going', known: [going], write: {}, want: terminating },
  { name: 'going, and what is there is changed', known: [going], write: { old: object }, want: undefined },
  {
    name: 'going, and something is done with what is there',
    known: [going],
    write: { of: '/pods/eviction' },
    want: undefined,
  },
  {
    name: 'missing, and rights are asked for',
    known: [],
    write: { of: 'authorization.k8s.io/localsubjectaccessreviews' },
    want: undefined,
  },
  {
    name: 'missing, and the object is in none',
    known: [],
    write: { of: '/nodes', clusterWide: true },
    want: undefined,
  },
])('a namespace that is $name', async ({ known, write, want }) => {
  const plugin = namespaceLifecycle(pluginParts({ known: { '/namespaces': known } }));
  expect((await admitted(plugin, { object, ...write })).refused).toBe(want);
});

it.each([
  ['default', 'this namespace may not be deleted'],
  ['kube-system', 'this namespace may not be deleted'],
  ['kube-public', 'this namespace may not be deleted'],
  ['kube-node-lease', undefined],
  ['mine', undefined],
])('the deletion of %s: %s', async (name, want) => {
  const plugin = namespaceLifecycle(pluginParts());
  const attributes = { ...attributesOf({ of: '/namespaces', operation: 'DELETE', clusterWide: true }), name };
  const refused = await Promise.resolve(plugin.admit!(attributes)).catch(
    (error: unknown) => (error as ApiError).message,
  );
  expect(refused).toBe(want === undefined ? undefined : `namespaces "${name}" is forbidden: ${want}`);
});

it('NamespaceExists refuses changes in a namespace that is missing, too', async () => {
  const refusals = [{ '/namespaces': [there] }, {}].map((known) =>
    admitted(namespaceExists(pluginParts({ known })), { object, old: object }).then(({ refused }) => refused),
  );
  expect(await Promise.all(refusals)).toEqual([undefined, 'namespaces "ns" not found']);
});
