import type { FlowSchema } from '../../src/catalog/types/flowcontrol.v1.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { systemClock, type Clock } from '../../src/std/clock.js';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const levels = `${group}/prioritylevelconfigurations`;
const schemas = `${group}/flowschemas`;
const annotation = 'apf.kubernetes.io/autoupdate-spec';

/** The interval of a minute is shorter; all other delays are those of the system. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => systemClock.after(delayMs === 60_000 ? 200 : delayMs, task),
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { clock });
});
afterAll(() => server?.stop());

it.each([
  ['a mandatory PriorityLevelConfiguration', `${levels}/catch-all`],
  ['a mandatory FlowSchema', `${schemas}/exempt`],
  ['a suggested PriorityLevelConfiguration', `${levels}/node-high`],
  ['a suggested FlowSchema', `${schemas}/probes`],
])('%s that is deleted is created again', async (_what, path) => {
  const before = (await server.admin.get(path)).body;
  expect((await server.admin.delete(path)).code).toBe(200);
  await eventually('it exists again', async () => (await server.admin.get(path)).code === 200);
  const after = (await server.admin.get(path)).body;
  expect(after.spec).toEqual(before.spec);
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(after.metadata.annotations).toEqual({ [annotation]: 'true' });
  const managers = after.metadata.managedFields.map(({ manager }: { manager: string }) => manager);
  expect(managers).toContain('api-priority-and-fairness-config-producer-v1');
});

it('objects that are as they should be are not written', async () => {
  const versions = async () => {
    const lists = await Promise.all([server.admin.get(levels), server.admin.get(schemas)]);
    const items = lists.flatMap(({ body }) => body.items) as { metadata: { name: string; resourceVersion: string } }[];
    const others = items.filter(({ metadata: { name } }) => name !== 'probes');
    return others.map(({ metadata: { name, resourceVersion } }) => `${name} ${resourceVersion}`);
  };
  await eventually('no FlowSchema is dangling', async () => {
    const { items } = (await server.admin.get(schemas)).body as { items: FlowSchema[] };
    return items.every(({ status }) => status?.conditions?.every((condition) => condition.status === 'False') === true);
  });
  const before = await versions();
  for (let round = 0; round < 2; round++) {
    expect((await server.admin.delete(`${schemas}/probes`)).code).toBe(200);
    await eventually('it exists again', async () => (await server.admin.get(`${schemas}/probes`)).code === 200);
  }
  expect(await versions()).toEqual(before);
});

it('a suggested object that is changed is restored, unless its annotation is false', async () => {
  const change = (name: string, value: string) =>
    server.admin.patch(`${levels}/${name}`, {
      metadata: { annotations: { [annotation]: value } },
      spec: { limited: { nominalConcurrencyShares: 77 } },
    });
  expect((await change('system', 'false')).code).toBe(200);
  expect((await change('workload-low', 'true')).code).toBe(200);
  const sharesOf = async (name: string) =>
    (await server.admin.get(`${levels}/${name}`)).body.spec.limited.nominalConcurrencyShares as number;
  await eventually('the other one is restored', async () => (await sharesOf('workload-low')) === 100);
  expect(await sharesOf('system')).toBe(77);
});

it('an object of an earlier release is deleted if its annotation is true, and objects of users stay', async () => {
  const create = (name: string, annotations: object) =>
    server.admin.post(levels, {
      metadata: { name, annotations },
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    });
  expect((await create('own', {})).code).toBe(201);
  expect((await create('kept', { [annotation]: 'false' })).code).toBe(201);
  expect((await create('obsolete', { [annotation]: 'true' })).code).toBe(201);
  await eventually('it is gone', async () => (await server.admin.get(`${levels}/obsolete`)).code === 404);
  expect((await server.admin.get(`${levels}/own`)).code).toBe(200);
  expect((await server.admin.get(`${levels}/kept`)).code).toBe(200);
});

it('the mandatory objects cannot be changed, except the shares of the level exempt', async () => {
  const catchAll = await server.admin.patch(`${levels}/catch-all`, { spec: { limited: { lendablePercent: 5 } } });
  expect(catchAll.code).toBe(422);
  const schema = await server.admin.patch(`${schemas}/exempt`, { spec: { matchingPrecedence: 7 } });
  expect(schema.code).toBe(422);
  const shares = { spec: { exempt: { nominalConcurrencyShares: 5 } } };
  expect((await server.admin.patch(`${levels}/exempt`, shares)).code).toBe(200);
});
