import { Module, type DynamicModule } from '@nestjs/common';
import { ApiGroup, type ApiGroupOptions } from '../../src/registry/apis/api-group.js';
import { defineResource, otherVersion } from '../../src/registry/definition/resource-definition.js';
import type { Strategy } from '../../src/registry/definition/strategy.js';
import { defaultTable } from '../../src/registry/definition/table.js';
import { fieldError } from '../../src/machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../src/machinery/names.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Executes CONTRIBUTING's instructions for adding a group, a kind and a version. */
const group = 'tools.example.com';
const kind = (name: string, strategy: Partial<Strategy> = {}) =>
  defineResource({
    group,
    version: 'v1',
    kind: name,
    plural: `${name.toLowerCase()}s`,
    namespaced: true,
    storagePrefix: `${group}/${name.toLowerCase()}s`,
    strategy: { validateName: nameIsDnsSubdomain, ...strategy },
    table: defaultTable,
  });
const hammer = kind('Hammer');
const older = otherVersion(hammer, {
  version: 'v1beta1',
  toHub: ({ weight, ...rest }) => ({ ...rest, spec: { grams: weight } }),
  fromHub: ({ spec, ...rest }) => ({ ...rest, weight: (spec as { grams?: number } | undefined)?.grams }),
});

function tools(versions: readonly ApiGroupOptions[]): DynamicModule {
  @ApiGroup(versions)
  class ToolsGroup {}
  @Module({})
  class ToolsModule {}
  return { module: ToolsModule, providers: [ToolsGroup] };
}

const running: TestServer[] = [];
async function start(versions: readonly ApiGroupOptions[], runtimeConfig = {}) {
  const server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { modules: () => [tools(versions)], config: { runtimeConfig } },
  );
  running.push(server);
  return server.admin;
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

const at = (plural: string, version = 'v1') => `/apis/${group}/${version}/namespaces/default/${plural}`;

it('adds a group', async () => {
  const admin = await start([{ group, version: 'v1', resources: [hammer] }]);
  expect((await admin.post(at('hammers'), { metadata: { name: 'h' }, spec: { grams: 300 } })).code).toBe(201);
  expect((await admin.get(`${at('hammers')}/h`)).body).toMatchObject({ kind: 'Hammer', spec: { grams: 300 } });
  expect((await admin.get(`/openapi/v3/apis/${group}/v1`)).code).toBe(200);
});

it('adds a kind to a group', async () => {
  const admin = await start([{ group, version: 'v1', resources: [hammer, kind('Saw')] }]);
  const { resources } = (await admin.get(`/apis/${group}/v1`)).body as { resources: { name: string }[] };
  expect(resources.map(({ name }) => name)).toEqual(['hammers', 'saws']);
  expect((await admin.post(at('saws'), { metadata: { name: 's' } })).code).toBe(201);
  expect((await admin.get(at('saws'))).body).toMatchObject({ kind: 'SawList', items: [{ metadata: { name: 's' } }] });
});

it('adds a version of a kind', async () => {
  const versions = [
    { group, version: 'v1', resources: [hammer], versionPriority: 20 },
    { group, version: 'v1beta1', resources: [older], versionPriority: 10 },
  ];
  const admin = await start(versions, { [`${group}/v1beta1`]: true });
  await admin.post(at('hammers', 'v1beta1'), { metadata: { name: 'h' }, weight: 300 });
  expect((await admin.get(`${at('hammers')}/h`)).body).toMatchObject({ spec: { grams: 300 } });
  expect((await admin.get(`${at('hammers', 'v1beta1')}/h`)).body).toMatchObject({ weight: 300 });
  const { body } = await admin.get(`/apis/${group}`);
  expect(body).toMatchObject({
    preferredVersion: { version: 'v1' },
    versions: [{ version: 'v1' }, { version: 'v1beta1' }],
  });
});

it('adds a kind that decides by the user whether an object may be applied, also if that changes nothing', async () => {
  const validateUpdate: Strategy['validateUpdate'] = (_object, _old, { user }) =>
    user.name === 'guest' ? [fieldError.forbidden('spec', 'not for guests')] : [];
  const admin = await start([{ group, version: 'v1', resources: [kind('Hammer', { validateUpdate })] }]);
  const { keelson } = running[0]!;
  const guest = running[0]!.client({ ...keelson.client, headers: { 'impersonate-user': 'guest', 'impersonate-group': 'system:masters' } }); // prettier-ignore
  const config = { apiVersion: `${group}/v1`, kind: 'Hammer', metadata: { name: 'h' }, spec: { grams: 300 } };
  const apply = async (client = admin) =>
    (await client.patch(`${at('hammers')}/h?fieldManager=one`, config, 'application/apply-patch+yaml')).code;
  for (const code of [201, 200, 200, 200]) expect(await apply()).toBe(code);
  expect([await apply(guest), await apply()]).toEqual([422, 200]);
});
