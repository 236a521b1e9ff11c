import { registryOf } from '../../../test/harness/shell.js';
import { encodeStored } from '../../codec/stored-object.js';
import { namingProfile } from '../../config/naming-profile.js';
import { parseLabelSelector } from '../../machinery/label-selector-parser.js';
import type { Revision } from '../../machinery/revision.js';
import { coreResources } from '../../modules/core/core.resources.js';
import { RegistryPolicyObjects } from './registry-policy-objects.js';

const resources = coreResources(namingProfile('kubernetes')).filter(({ plural }) => plural === 'configmaps');
const configMap = (name: string, labels = {}) =>
  encodeStored({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'ns', labels } });

/** ConfigMaps as params, in a cache that is loaded by load(). */
function paramsWith(values: Readonly<Record<string, Buffer>>) {
  const registry = registryOf(resources);
  const { store } = registry.require('', 'v1', 'configmaps');
  const params = new RegistryPolicyObjects(registry).paramsOf({ group: '', version: 'v1', kind: 'ConfigMap' })!;
  const modRevision = 2 as Revision;
  const items = Object.entries(values).map(([name, value]) =>
    store.cache.decode({ key: store.keyOf('ns', name), value, createRevision: modRevision, modRevision }),
  );
  return { params, load: () => store.cache.reset(items, modRevision) };
}

it('params wait for their cache to be loaded', async () => {
  const { params, load } = paramsWith({ one: configMap('one') });
  const loaded = params.load(undefined);
  expect(loaded).toBeInstanceOf(Promise);
  load();
  await loaded;
  expect(params.load(undefined)).toBeUndefined();
  expect(params.get('ns', 'one')).toMatchObject({ metadata: { name: 'one' } });
  expect(params.get('ns', 'two')).toBeUndefined();
});

it('the wait for a cache ends with the signal of the request', async () => {
  const { params } = paramsWith({});
  await expect(params.load(AbortSignal.abort())).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
});

it('a param that cannot be decoded is an error, and not a missing one', () => {
  const { params, load } = paramsWith({ good: configMap('good', { a: 'b' }), bad: Buffer.from('{"kind":') });
  load();
  const problem = "the stored param 'bad' cannot be decoded; delete it or write it again";
  expect(() => params.get('ns', 'bad')).toThrow(problem);
  expect(() => params.select('ns', parseLabelSelector('a=b'))).toThrow(problem);
  expect(params.get('ns', 'good')).toMatchObject({ metadata: { name: 'good' } });
});
