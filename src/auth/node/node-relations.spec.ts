import { cpuMsOf } from '../../../test/harness/cpu-time.js';
import { registryOf } from '../../../test/harness/shell.js';
import { RegistryReader } from '../../admission/registry-reader.js';
import { encodeStored } from '../../codec/stored-object.js';
import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import { coreResources } from '../../modules/core/core.resources.js';
import { resourceResources } from '../../modules/resource/resource.resources.js';
import { storageResources } from '../../modules/storage/storage.resources.js';
import { systemClock } from '../../std/clock.js';
import { atOnce } from '../../std/steps.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { deleteEvent, putEvent } from '../../storage/store-event.js';
import { NodeRelations, type RelatedKind } from './node-relations.js';

const naming = namingProfile('kubernetes');
const plurals = ['pods', 'persistentvolumes', 'persistentvolumeclaims', 'volumeattachments', 'resourceslices'] as const;
type Plural = (typeof plurals)[number];

/** Relations of nodes to objects in caches that tests change as the feed does. */
class World {
  readonly registry = registryOf(
    [
      ...coreResources(naming),
      ...Object.values(storageResources(naming)).flat(),
      ...Object.values(resourceResources(naming)).flat(),
    ].filter(({ plural, version }) => version === 'v1' && plurals.some((known) => known === plural)),
  );
  readonly relations = new NodeRelations(this.registry, new RegistryReader(this.registry), naming);
  private revision = 1;

  constructor() {
    for (const plural of plurals) this.load(plural, {});
  }

  load(plural: Plural, objects: Readonly<Record<string, object>>): void {
    const { cache } = this.store(plural);
    const items = Object.entries(objects).map(([path, object]) => cache.decode(this.item(plural, path, object)));
    cache.reset(items, this.next());
  }

  put(plural: Plural, path: string, object: object): void {
    this.store(plural).cache.apply(putEvent(this.item(plural, path, object)), 0);
  }

  /** Stores a value that cannot be decoded. */
  putDamaged(plural: Plural, path: string): void {
    const value = Buffer.from('{"kind":');
    this.store(plural).cache.apply(putEvent({ ...this.item(plural, path, {}), value }), 0);
  }

  remove(plural: Plural, path: string): void {
    this.store(plural).cache.apply(deleteEvent(this.item(plural, path, {}).key, this.next()), 0);
  }

  isRelated(node: string, kind: RelatedKind, path: string): boolean {
    const [namespace = '', name = ''] = path.split('/');
    return atOnce(this.relations.areRelated(node, kind, namespace, name));
  }

  private item(plural: Plural, path: string, object: object) {
    const [namespace = '', name = ''] = path.split('/');
    const { definition } = this.served(plural);
    const metadata = { name, ...(namespace && { namespace }) };
    const { group, version, kind } = definition;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const modRevision = this.next();
    const value = encodeStored({ apiVersion, kind, ...object, metadata: { ...metadata, ...metadataOf(object) } });
    return { key: this.store(plural).keyOf(namespace, name), value, createRevision: modRevision, modRevision };
  }

  private next = () => ++this.revision as Revision;

  private served(plural: Plural) {
    return this.registry.storedResources().find(({ definition }) => definition.plural === plural)!;
  }

  private store(plural: Plural) {
    return this.served(plural).store;
  }
}

const metadataOf = (object: Partial<KubeObject>) => object.metadata ?? {};
const podOn = (nodeName: string | undefined, spec: object = {}, more: object = {}) => ({
  spec: { ...(nodeName !== undefined && { nodeName }), ...spec },
  ...more,
});
const using = (...volumes: object[]) => ({ volumes });

describe('a Pod relates its node', () => {
  it.each<[string, RelatedKind, object, object?]>([
    ['to a Secret of a volume', 'secret', using({ secret: { secretName: 'x' } })],
    ['to a Secret of a projected volume', 'secret', using({ projected: { sources: [{ secret: { name: 'x' } }] } })],
    ['to an image pull Secret', 'secret', { imagePullSecrets: [{ name: 'x' }] }],
    [
      'to a Secret of a variable',
      'secret',
      { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'x' } } }] }] },
    ],
    ['to a Secret of an init container', 'secret', { initContainers: [{ envFrom: [{ secretRef: { name: 'x' } }] }] }],
    ['to a ConfigMap of a volume', 'configMap', using({ configMap: { name: 'x' } })],
    ['to a projected ConfigMap', 'configMap', using({ projected: { sources: [{ configMap: { name: 'x' } }] } })],
    ['to a ConfigMap of variables', 'configMap', { containers: [{ envFrom: [{ configMapRef: { name: 'x' } }] }] }],
    ['to a claim', 'claim', using({ persistentVolumeClaim: { claimName: 'x' } })],
    ['to its ServiceAccount', 'serviceAccount', { serviceAccountName: 'x' }],
    ['to a resource claim', 'resourceClaim', { resourceClaims: [{ name: 'c', resourceClaimName: 'x' }] }],
    [
      'to a resource claim of a template',
      'resourceClaim',
      { resourceClaims: [{ name: 'c', resourceClaimTemplateName: 't' }] },
      { status: { resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'x' }] } },
    ],
    [
      'to the resource claim of extended resources',
      'resourceClaim',
      {},
      { status: { extendedResourceClaimStatus: { resourceClaimName: 'x' } } },
    ],
  ])('%s', (...[, kind, spec, more]) => {
    const world = new World();
    world.put('pods', 'shop/p', podOn('n1', spec, more));
    expect(world.isRelated('n1', kind, 'shop/x')).toBe(true);
    expect(world.isRelated('n2', kind, 'shop/x')).toBe(false);
    expect(world.isRelated('n1', kind, 'other/x')).toBe(false);
    expect(world.isRelated('n1', kind, 'shop/y')).toBe(false);
    world.remove('pods', 'shop/p');
    expect(world.isRelated('n1', kind, 'shop/x')).toBe(false);
  });

  it('to the claim of an ephemeral volume, which is named after the Pod', () => {
    const world = new World();
    world.put('pods', 'shop/p', podOn('n1', using({ name: 'v', ephemeral: { volumeClaimTemplate: {} } })));
    expect(world.isRelated('n1', 'claim', 'shop/p-v')).toBe(true);
  });

  it('not before it is bound, and not if it is a mirror Pod', () => {
    const world = new World();
    const spec = { serviceAccountName: 'x' };
    world.put('pods', 'shop/p', podOn(undefined, spec));
    expect(world.isRelated('n1', 'serviceAccount', 'shop/x')).toBe(false);
    world.put('pods', 'shop/p', podOn('n1', spec));
    expect(world.isRelated('n1', 'serviceAccount', 'shop/x')).toBe(true);
    const metadata = { annotations: { 'kubernetes.io/config.mirror': '' } };
    world.put('pods', 'shop/p', podOn('n1', spec, { metadata }));
    expect(world.isRelated('n1', 'serviceAccount', 'shop/x')).toBe(false);
    expect(world.isRelated('n1', 'pod', 'shop/p')).toBe(true);
  });

  it('as in the store after the cache was loaded again', () => {
    const world = new World();
    world.put('pods', 'shop/old', podOn('n1', { serviceAccountName: 'old' }));
    world.load('pods', { 'shop/new': podOn('n1', { serviceAccountName: 'new' }) });
    expect(world.isRelated('n1', 'serviceAccount', 'shop/old')).toBe(false);
    expect(world.isRelated('n1', 'serviceAccount', 'shop/new')).toBe(true);
  });
});

describe('a volume', () => {
  const secretRef = { name: 'x' };
  const claimRef = { namespace: 'shop', name: 'data' };
  const worldWith = (volume: object, volumeName = 'v') => {
    const world = new World();
    world.put('pods', 'shop/p', podOn('n1', using({ persistentVolumeClaim: { claimName: 'data' } })));
    world.put('persistentvolumeclaims', 'shop/data', { spec: { volumeName } });
    world.put('persistentvolumes', '/v', { spec: { claimRef, ...volume } });
    return world;
  };

  it.each<[string, object, string]>([
    ['of the claim', { iscsi: { secretRef } }, 'shop/x'],
    ['of another namespace', { cephfs: { secretRef: { ...secretRef, namespace: 'ceph' } } }, 'ceph/x'],
    ['of Azure files', { azureFile: { secretName: 'x', secretNamespace: 'azure' } }, 'azure/x'],
    ['of staging', { csi: { nodeStageSecretRef: { namespace: 'csi', name: 'x' } } }, 'csi/x'],
    ['of expansion', { csi: { nodeExpandSecretRef: { namespace: 'csi', name: 'x' } } }, 'csi/x'],
  ])('relates its node to the Secret %s', (_title, volume, path) => {
    const world = worldWith(volume);
    expect(world.isRelated('n1', 'volume', '/v')).toBe(true);
    expect(world.isRelated('n1', 'secret', path)).toBe(true);
    expect(world.isRelated('n2', 'secret', path)).toBe(false);
    expect(world.isRelated('n2', 'volume', '/v')).toBe(false);
  });

  it('does not relate its node to Secrets of the CSI controller', () => {
    const world = worldWith({ csi: { controllerPublishSecretRef: { namespace: 'csi', name: 'x' } } });
    expect(world.isRelated('n1', 'secret', 'csi/x')).toBe(false);
  });

  it('of another claim does not relate a node to its Secret', () => {
    const world = worldWith({ iscsi: { secretRef }, claimRef: { namespace: 'other', name: 'data' } });
    expect(world.isRelated('n1', 'volume', '/v')).toBe(false);
    expect(world.isRelated('n1', 'secret', 'other/x')).toBe(false);
    expect(world.isRelated('n1', 'secret', 'shop/x')).toBe(false);
  });
});

it('a VolumeAttachment and a ResourceSlice are related to the node that they name', () => {
  const world = new World();
  world.put('volumeattachments', '/a', { spec: { nodeName: 'n1' } });
  world.put('resourceslices', '/s', { spec: { nodeName: 'n1' } });
  expect([world.isRelated('n1', 'attachment', '/a'), world.isRelated('n2', 'attachment', '/a')]).toEqual([true, false]);
  expect([world.isRelated('n1', 'resourceSlice', '/s'), world.isRelated('n2', 'resourceSlice', '/s')]).toEqual([
    true,
    false,
  ]);
});

it('a claim that cannot be decoded relates to nothing, and hides no other claim', () => {
  const world = new World();
  const claims = ['bad', 'data'].map((claimName) => ({ persistentVolumeClaim: { claimName } }));
  world.put('pods', 'shop/p', podOn('n1', using(...claims)));
  world.putDamaged('persistentvolumeclaims', 'shop/bad');
  expect(world.isRelated('n1', 'secret', 'shop/x')).toBe(false);
  world.put('persistentvolumeclaims', 'shop/data', { spec: { volumeName: 'v' } });
  const claimRef = { namespace: 'shop', name: 'data' };
  world.put('persistentvolumes', '/v', { spec: { claimRef, iscsi: { secretRef: { name: 'x' } } } });
  expect(world.isRelated('n1', 'secret', 'shop/x')).toBe(true);
});

it('interrupts the search in many large Pods', async () => {
  const world = new World();
  const volumes = Array.from({ length: 20_000 }, (_, at) => ({ secret: { secretName: `s-${at}` } }));
  for (let at = 0; at < 20; at++) world.put('pods', `shop/p-${at}`, podOn('n1', using(...volumes)));
  const answer = new YieldTimer(systemClock).run(world.relations.areRelated('n1', 'secret', 'shop', 'absent'));
  expect(answer).toBeInstanceOf(Promise);
  expect(await answer).toBe(false);
});

it('decides in microseconds with 5,000 nodes of 30 Pods', () => {
  const world = new World();
  const pods = Object.fromEntries(
    Array.from({ length: 150_000 }, (_, at) => [
      `ns-${at % 100}/p-${at}`,
      podOn(`n-${at % 5_000}`, using({ secret: { secretName: `s-${at}` } })),
    ]),
  );
  world.load('pods', pods);
  const decisions = 10_000;
  const ms = cpuMsOf(() => {
    for (let at = 0; at < decisions; at++) {
      const pod = at * 15;
      expect(world.isRelated(`n-${pod % 5_000}`, 'secret', `ns-${pod % 100}/s-${pod}`)).toBe(true);
    }
  });
  expect(ms).toBeLessThan((100 / 1_000) * decisions);
});
