import { Module, type DynamicModule } from '@nestjs/common';
import { startTestServer, type TestServer } from '../../../test/harness/servers.js';
import { asFields } from '../../machinery/fields.js';
import { fieldError } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { noRevision } from '../../machinery/revision.js';
import type { KvStore } from '../../storage/kv-store.js';
import { ApiGroup, Reserves } from '../apis/api-group.js';
import type { RequestContext } from '../request-context.js';
import type { Reservation } from './reservation.js';
import { defineResource } from '../definition/resource-definition.js';
import { defaultTable } from '../definition/table.js';

const group = 'tools.example.com';
/** Every object reserves a number of its own: the lowest that is free. */
const ticket = defineResource({
  group,
  version: 'v1',
  kind: 'Ticket',
  plural: 'tickets',
  namespaced: true,
  storagePrefix: `${group}/tickets`,
  strategy: {
    validateName: nameIsDnsSubdomain,
    validateCreate: ({ metadata }) => (metadata.labels?.['bad'] ? [fieldError.forbidden('metadata.labels', 'no')] : []),
  },
  table: defaultTable,
});

const numberOf = (object: KubeObject | undefined) => asFields(object?.['spec'])['number'] as number | undefined;
const keyOf = (number: number) => `/registry/numbers/${number}`;

function tickets(log: string[]): DynamicModule {
  @ApiGroup({ group, version: 'v1', resources: [ticket] })
  class Tickets {
    private readonly seen = new Set<number>();

    @Reserves('tickets')
    async takeNumber(
      next: KubeObject | undefined,
      old: KubeObject | undefined,
      { dryRun }: RequestContext,
    ): Promise<Reservation | undefined> {
      const before = numberOf(old);
      if (next && before !== undefined) return undefined;
      if (next) {
        let number = 1;
        while (this.seen.has(number)) number++;
        next['spec'] = { number };
        log.push(`takes ${number}`);
        if (dryRun) return undefined;
        const key = keyOf(number);
        const write = { type: 'put' as const, key, value: Buffer.from(next.metadata.name!) };
        return this.reservation(number, [{ key, modRevision: noRevision }], [write]);
      }
      return this.reservation(before!, [], [{ type: 'delete', key: keyOf(before!) }]);
    }

    private reservation(number: number, compares: Reservation['compares'], writes: Reservation['writes']): Reservation {
      return {
        compares,
        writes,
        committed: () => void log.push('made'),
        conflicted: (current) => {
          if (current[0]) this.seen.add(number);
          log.push(current[0] ? 'lost' : 'kept');
        },
        end: () => log.push('end'),
      };
    }
  }
  @Module({})
  class TicketsModule {}
  return { module: TicketsModule, providers: [{ provide: Tickets, useFactory: () => new Tickets() }] };
}

let server: TestServer;
let log: string[];
let kv: KvStore;
const at = `/apis/${group}/v1/namespaces/default/tickets`;
const make = (name: string, metadata: object = {}, query = '') =>
  server.admin.post(`${at}${query}`, { metadata: { name, ...metadata } });
const numbers = async () =>
  (await kv.range('/registry/numbers/')).items.map(({ key, value }) => `${key.slice(18)} ${value.toString()}`);

beforeEach(async () => {
  log = [];
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    {
      modules: () => [tickets(log)],
      reconciles: false,
    },
  );
  kv = server.keelson.components.store;
});
afterEach(() => server.stop());

it('a create reserves in its own transaction', async () => {
  const { code, body } = await make('a');
  expect([code, body.spec, await numbers(), log]).toEqual([201, { number: 1 }, ['1 a'], ['takes 1', 'made', 'end']]);
  const { item } = await kv.get(keyOf(1));
  expect(String(item!.modRevision)).toBe(body.metadata.resourceVersion);
});

it('a create whose reserved key is taken retries from the submitted object', async () => {
  await kv.txn([], [{ type: 'put', key: keyOf(1), value: Buffer.from('another') }]);
  const { code, body } = await make('a');
  expect([code, body.spec]).toEqual([201, { number: 2 }]);
  expect(log).toEqual(['takes 1', 'lost', 'end', 'takes 2', 'made', 'end']);
});

it('a create whose reserved keys are taken on every attempt fails (409)', async () => {
  const values = Array.from({ length: 100 }, (_, index) => keyOf(index + 1));
  await kv.txn(
    [],
    values.map((key) => ({ type: 'put' as const, key, value: Buffer.from('another') })),
  );
  expect((await make('a')).body).toMatchObject({ code: 409, reason: 'Conflict' });
  expect((await server.admin.get(`${at}/a`)).code).toBe(404);
});

it.each<[string, () => Promise<{ code: number }>, number, string[]]>([
  ['a dry run', () => make('b', {}, '?dryRun=All'), 201, ['takes 1']],
  ['an invalid object', () => make('b', { labels: { bad: 'yes' } }), 422, ['takes 1', 'end']],
  ['an invalid name', () => make('B_'), 422, ['takes 1', 'end']],
])('nothing is reserved for %s', async (_what, call, want, steps) => {
  expect((await call()).code).toBe(want);
  expect([await numbers(), log]).toEqual([[], steps]);
});

it('a create with an existing name (409) reserves nothing', async () => {
  await make('a');
  await kv.txn([], [{ type: 'delete', key: keyOf(1) }]);
  log.length = 0;
  expect((await make('a')).code).toBe(409);
  expect([await numbers(), log]).toEqual([[], ['takes 1', 'kept', 'end']]);
});

it('a delete releases the reservation, a dry run does not', async () => {
  await make('a');
  await server.admin.delete(`${at}/a?dryRun=All`);
  expect(await numbers()).toEqual(['1 a']);
  await server.admin.delete(`${at}/a`);
  expect(await numbers()).toEqual([]);
});

it('removing the last finalizer releases the reservation', async () => {
  await make('a', { finalizers: ['example.com/f'] });
  await server.admin.delete(`${at}/a`);
  expect(await numbers()).toEqual(['1 a']);
  expect((await server.admin.patch(`${at}/a`, { metadata: { finalizers: null } })).code).toBe(200);
  expect([await numbers(), (await server.admin.get(`${at}/a`)).code]).toEqual([[], 404]);
});
