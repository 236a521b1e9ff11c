import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const merge = { 'content-type': 'application/merge-patch+json' };
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const definition = (
  plural: string,
  names: object = {},
  rest: { group?: string; metadata?: object; spec?: object } = {},
) => {
  const { group = 'g.example.com' } = rest;
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1, -1)}`;
  return {
    metadata: { name: `${plural}.${group}`, ...rest.metadata },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, ...names },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
      ...rest.spec,
    },
  };
};

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
interface Status {
  readonly conditions: readonly Condition[] | null;
  readonly acceptedNames: object;
}
const statusOf = (object: KubeObject | undefined) => object?.['status'] as Status | undefined;
const told = (object: KubeObject | undefined) =>
  (statusOf(object)?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const condition = (object: KubeObject | undefined, type: string) =>
  statusOf(object)?.conditions?.find((found) => found.type === type);
const isEstablished = (object: KubeObject | undefined) => condition(object, 'Established')?.status === 'True';

const accepted = ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'];

describe.each(['kubernetes', 'svc'] as const)('with the naming profile %s, a definition', (naming) => {
  let server: TestServer;
  let admin: HttpClient;
  let crds: string;
  let finalizer: string;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming });
    admin = server.admin;
    const domain = naming === 'kubernetes' ? 'k8s.io' : 'svc.example';
    crds = `/apis/apiextensions.${domain}/v1/customresourcedefinitions`;
    finalizer = `customresourcecleanup.apiextensions.${domain}`;
  });
  afterAll(() => server.stop());

  const make = async (object: object): Promise<KubeObject> => {
    const { code, body } = await admin.post(crds, object);
    expect([code, body.message]).toEqual([201, undefined]);
    return body as KubeObject;
  };
  const becomes = (name: string, holds: (object: KubeObject | undefined) => boolean) => until(admin, crds, name, holds);

  it('becomes Established with conditions as kube-apiserver sets them', async () => {
    await make(definition('widgets', { shortNames: ['wd'], categories: ['all'] }));
    const found = (await becomes('widgets.g.example.com', isEstablished))!;
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string;
    expect(found['status']).toEqual({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: time,
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: time,
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: {
        plural: 'widgets',
        singular: 'widget',
        shortNames: ['wd'],
        kind: 'Widget',
        listKind: 'WidgetList',
        categories: ['all'],
      },
      storedVersions: ['v1'],
    });
    const manager = naming === 'kubernetes' ? 'kube-apiserver' : 'svc-apiserver';
    expect(found.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager, operation: 'Update', subresource: 'status' }),
    );
    expect(found.metadata.generation).toBe(1);
  });

  it('with a name in use gets NamesAccepted when the other definition is deleted', async () => {
    const { acceptedNames } = statusOf(await make(definition('firsts', { shortNames: ['one'] })))!;
    expect(acceptedNames).toEqual({ plural: '', kind: '' });
    await becomes('firsts.g.example.com', isEstablished);
    await make(
      definition('seconds', { shortNames: ['one'], kind: 'First', singular: 'second', listKind: 'SecondList' }),
    );
    const refused = await becomes('seconds.g.example.com', (object) => told(object).length > 0);
    expect(told(refused)).toEqual(['NamesAccepted=False KindConflict', 'Established=False NotAccepted']);
    expect(condition(refused, 'NamesAccepted')!.message).toBe('"First" is already in use');
    expect(statusOf(refused)!.acceptedNames).toEqual({
      plural: 'seconds',
      singular: 'second',
      kind: '',
      listKind: 'SecondList',
    });

    await make(definition('elsewhere', { kind: 'First', shortNames: ['one'] }, { group: 'h.example.com' }));
    await becomes('elsewhere.h.example.com', isEstablished);

    const firsts = `${crds}/firsts.g.example.com`;
    await admin.request('PATCH', firsts, { body: { spec: { names: { shortNames: [] } } }, headers: merge });
    const isFreed = (object: KubeObject | undefined) => 'shortNames' in statusOf(object)!.acceptedNames;
    const still = await becomes('seconds.g.example.com', isFreed);
    expect(condition(still, 'NamesAccepted')!.reason).toBe('KindConflict');
    await admin.delete(firsts);
    expect(told(await becomes('seconds.g.example.com', isEstablished))).toEqual(accepted);
  });

  it('stays Established if an update requests names in use', async () => {
    await make(definition('owners', { shortNames: ['own'] }));
    await make(definition('askers'));
    await becomes('owners.g.example.com', isEstablished);
    await becomes('askers.g.example.com', isEstablished);
    const asked = { spec: { names: { shortNames: ['own', 'ask'] } } };
    await admin.request('PATCH', `${crds}/askers.g.example.com`, { body: asked, headers: merge });
    const isRefused = (object: KubeObject | undefined) => condition(object, 'NamesAccepted')?.status === 'False';
    const refused = await becomes('askers.g.example.com', isRefused);
    expect(told(refused)).toEqual(['NamesAccepted=False ShortNamesConflict', accepted[1]]);
    expect(statusOf(refused)!.acceptedNames).not.toHaveProperty('shortNames');
  });

  it('gets the condition Terminating on deletion, and is deleted', async () => {
    await make(definition('leavers', {}, { metadata: { finalizers: ['example.com/mine'] } }));
    const before = (await becomes('leavers.g.example.com', isEstablished))!;
    const path = `${crds}/leavers.g.example.com`;
    const { body: tried } = await admin.delete(`${path}?dryRun=All`);
    expect(told(tried as KubeObject).at(-1)).toBe('Terminating=True InstanceDeletionPending');
    expect((await admin.get(path)).body).toEqual(before);

    const { code, body } = await admin.delete(path);
    expect([code, body.kind]).toEqual([200, 'CustomResourceDefinition']);
    const { metadata } = body as KubeObject;
    expect(metadata.finalizers).toEqual(['example.com/mine', finalizer]);
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    expect(metadata.generation).toBe(1);
    expect(statusOf(body as KubeObject)!.conditions!.at(-1)).toMatchObject({
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });

    const isFree = (object: KubeObject | undefined) => object!.metadata.finalizers?.length === 1;
    const left = await becomes('leavers.g.example.com', isFree);
    expect(told(left)).toEqual([...accepted, 'Terminating=False InstanceDeletionCompleted']);
    expect(left!.metadata.finalizers).toEqual(['example.com/mine']);
    await admin.request('PATCH', path, { body: { metadata: { finalizers: null } }, headers: merge });
    await untilGone(admin, crds, 'leavers.g.example.com');
  });

  it('that was never Established is deleted too', async () => {
    await make(definition('takens'));
    await becomes('takens.g.example.com', isEstablished);
    await make(definition('losers', { kind: 'Taken' }, { metadata: { finalizers: ['example.com/mine'] } }));
    await becomes('losers.g.example.com', (object) => told(object).length > 0);
    await admin.delete(`${crds}/losers.g.example.com`);
    const isFree = (object: KubeObject | undefined) => object!.metadata.finalizers?.length === 1;
    const left = await becomes('losers.g.example.com', isFree);
    expect(told(left).at(-1)).toBe('Terminating=False NeverEstablished');
  });

  it('has the KubernetesAPIApprovalPolicyConformant condition', async () => {
    const group = naming === 'kubernetes' ? 'x.k8s.io' : 'x.svc.example';
    const annotation = naming === 'kubernetes' ? 'api-approved.kubernetes.io' : 'api-approved.svc.example';
    await make(definition('mines', {}, { group, metadata: { annotations: { [annotation]: 'unapproved, a test' } } }));
    const found = await becomes(`mines.${group}`, isEstablished);
    expect(told(found)).toEqual(['KubernetesAPIApprovalPolicyConformant=False UnapprovedAnnotation', ...accepted]);
    const body = { metadata: { annotations: { [annotation]: 'https://example.com/1' } } };
    await admin.request('PATCH', `${crds}/mines.${group}`, { body, headers: merge });
    const isApproved = (object: KubeObject | undefined) =>
      condition(object, 'KubernetesAPIApprovalPolicyConformant')?.status === 'True';
    const after = await becomes(`mines.${group}`, isApproved);
    expect(condition(after, 'KubernetesAPIApprovalPolicyConformant')!.message).toBe(
      'approved in https://example.com/1',
    );
  });
});

describe('a deleted definition', () => {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const group = '/apis/g.example.com/v1';
  const inProgress = 'Terminating=True InstanceDeletionInProgress';
  let server: TestServer;
  let admin: HttpClient;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
    admin = server.admin;
  });
  afterAll(() => server.stop());

  const establish = async (plural: string, spec: object = {}) => {
    expect((await admin.post(crds, definition(plural, {}, { spec }))).code).toBe(201);
    await until(admin, crds, `${plural}.g.example.com`, isEstablished);
  };
  const instance = (kind: string, name: string, metadata: object = {}) => ({
    apiVersion: 'g.example.com/v1',
    kind,
    metadata: { name, ...metadata },
  });
  const make = async (collection: string, object: object) => {
    const { code, body } = await admin.post(collection, object);
    expect([code, body.message]).toEqual([201, undefined]);
  };
  const release = (path: string) =>
    admin.request('PATCH', path, { body: { metadata: { finalizers: null } }, headers: merge });

  it('deletes its objects, waits for their finalizers, and rejects new ones', async () => {
    await establish('boxes', { names: { plural: 'boxes', kind: 'Box' } });
    const inDefault = `${group}/namespaces/default/boxes`;
    const inSystem = `${group}/namespaces/kube-system/boxes`;
    await Promise.all(Array.from({ length: 40 }, (_, at) => make(inDefault, instance('Box', `b${at}`))));
    await make(inSystem, instance('Box', 'free'));
    await make(inSystem, instance('Box', 'held', { finalizers: ['plain-word'] }));

    await admin.delete(`${crds}/boxes.g.example.com`);
    const { code } = await admin.post(inDefault, instance('Box', 'late'));
    expect(code).toBe(403);
    const isHeldAlone = async () => {
      const { items } = (await admin.get(`${group}/boxes`)).body as { items: KubeObject[] };
      return items.every(({ metadata }) => metadata.name === 'held' && metadata.deletionTimestamp !== undefined);
    };
    const watch = await admin.watch(`${group}/boxes?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    while (!(await isHeldAlone())) expect(await watch.next()).toBeDefined();
    watch.close();
    const { body: waiting } = await admin.get(`${crds}/boxes.g.example.com`);
    expect(told(waiting as KubeObject)).toEqual([...accepted, inProgress]);
    expect(condition(waiting as KubeObject, 'Terminating')!.message).toBe('CustomResource deletion is in progress');

    await release(`${inSystem}/held`);
    await untilGone(admin, crds, 'boxes.g.example.com');
    expect((await admin.get(`${group}/boxes`)).code).toBe(404);
    await establish('boxes', { names: { plural: 'boxes', kind: 'Box' } });
    expect((await admin.get(`${group}/boxes`)).body.items).toEqual([]);
  });

  it('deletes cluster-scoped objects', async () => {
    await establish('rooms', { scope: 'Cluster' });
    await make(`${group}/rooms`, instance('Room', 'one'));
    await admin.delete(`${crds}/rooms.g.example.com`);
    await untilGone(admin, crds, 'rooms.g.example.com');
    await establish('rooms', { scope: 'Cluster' });
    expect((await admin.get(`${group}/rooms`)).body.items).toEqual([]);
  });

  it('without a served version gets an error condition, and continues when one is served', async () => {
    const versions = (served: boolean) => [{ name: 'v1', served, storage: true, schema }];
    await establish('doors');
    await make(`${group}/namespaces/default/doors`, instance('Door', 'one'));
    const path = `${crds}/doors.g.example.com`;
    await admin.request('PATCH', path, { body: { spec: { versions: versions(false) } }, headers: merge });
    await admin.delete(path);
    const hasFailed = (object: KubeObject | undefined) =>
      condition(object, 'Terminating')?.reason === 'InstanceDeletionFailed';
    const failed = await until(admin, crds, 'doors.g.example.com', hasFailed);
    expect(condition(failed, 'Terminating')!.message).toBe(
      'could not list instances: there are 1, and no version of them is served',
    );
    await admin.request('PATCH', path, { body: { spec: { versions: versions(true) } }, headers: merge });
    await untilGone(admin, crds, 'doors.g.example.com');
  });

  it('continues its deletion after a restart of the server', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-instances-'));
    const embedded = { store: 'embedded', naming: 'kubernetes' } as const;
    const doors = `${group}/namespaces/default/doors`;
    try {
      const first = await startTestServer(embedded, { directory });
      await first.admin.post(crds, definition('doors'));
      await until(first.admin, crds, 'doors.g.example.com', isEstablished);
      await first.admin.post(doors, instance('Door', 'held', { finalizers: ['example.com/hold'] }));
      await first.admin.post(doors, instance('Door', 'free'));
      await first.admin.delete(`${crds}/doors.g.example.com`);
      await first.stop();

      const last = await startTestServer(embedded, { directory });
      await untilGone(last.admin, doors, 'free');
      expect(told((await last.admin.get(`${crds}/doors.g.example.com`)).body as KubeObject).at(-1)).toBe(inProgress);
      await last.admin.request('PATCH', `${doors}/held`, { body: { metadata: { finalizers: null } }, headers: merge });
      await untilGone(last.admin, crds, 'doors.g.example.com');
      await last.stop();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('servers on one store', () => {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const store = new MemoryStore();
  const servers: { admin: HttpClient; stop: () => Promise<void> }[] = [];
  beforeAll(async () => {
    for (let index = 0; index < 2; index++) {
      const keelson = await startKeelson({ store, config: { reconcilers: { leaderElection: 'true' } } });
      const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
      servers.push({ admin, stop: () => keelson.stop() });
    }
  });
  afterAll(async () => {
    for (const { admin, stop } of servers) {
      admin.close();
      await stop();
    }
    await store.close();
  });

  it('accept a name for one of many concurrent definitions', async () => {
    const plurals = Array.from({ length: 8 }, (_, index) => `things${'abcdefgh'[index]}`);
    await Promise.all(
      plurals.map((plural, index) =>
        servers[index % 2]!.admin.post(
          crds,
          definition(plural, { kind: 'Thing', singular: plural, shortNames: ['th'] }),
        ),
      ),
    );
    const { admin } = servers[0]!;
    const isDecided = (object: KubeObject | undefined) =>
      isEstablished(object) || condition(object, 'Established')?.reason === 'NotAccepted';
    const found = await Promise.all(plurals.map((plural) => until(admin, crds, `${plural}.g.example.com`, isDecided)));
    const winners = found.filter(isEstablished);
    expect(winners).toHaveLength(1);
    for (const loser of found.filter((object) => !isEstablished(object))) {
      expect(told(loser)).toEqual(['NamesAccepted=False ListKindConflict', 'Established=False NotAccepted']);
    }

    await admin.delete(`${crds}/${winners[0]!.metadata.name!}`);
    await untilGone(admin, crds, winners[0]!.metadata.name!);
    const watch = await admin.watch(`${crds}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    for await (const { object } of watch) if (isEstablished(object)) break;
    watch.close();
  });

  it('write no more than one server would', async () => {
    const { admin } = servers[1]!;
    const name = 'quiets.q.example.com';
    const { body } = await admin.get(crds);
    const from = body.metadata.resourceVersion as string;
    const watch = await admin.watch(`${crds}?watch=1&resourceVersion=${from}&fieldSelector=metadata.name=${name}`);
    await admin.post(crds, definition('quiets', {}, { group: 'q.example.com' }));
    const states: string[][] = [];
    for await (const { object } of watch) {
      states.push(told(object));
      if (isEstablished(object)) break;
    }
    watch.close();
    expect(states).toEqual([[], [accepted[0], 'Established=False Installing'], accepted]);
  });
});

it('complete the deletion of a definition after a restart', async () => {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const directory = await mkdtemp(join(tmpdir(), 'keelson-definitions-'));
  const embedded = { store: 'embedded', naming: 'kubernetes' } as const;
  try {
    const idle = await startTestServer(embedded, { directory, reconciles: false });
    await idle.admin.post(crds, definition('earlies'));
    await idle.admin.post(crds, definition('lates'));
    await idle.admin.delete(`${crds}/earlies.g.example.com`);
    expect(told((await idle.admin.get(`${crds}/earlies.g.example.com`)).body as KubeObject)).toHaveLength(1);
    await idle.stop();

    const last = await startTestServer(embedded, { directory });
    await until(last.admin, crds, 'lates.g.example.com', isEstablished);
    await untilGone(last.admin, crds, 'earlies.g.example.com');
    await last.stop();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
