import fc from 'fast-check';
import { Catalog } from '../../src/catalog/catalog.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { fuzzInBatches } from './fuzz-run.js';
import { kindsUnderFuzz, type KindUnderFuzz } from './kinds.js';
import type { FuzzRequest } from './requests.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';
import { chosenSeed } from '../harness/seed.js';

/** FUZZ_OBJECTS=100000 tries more; FUZZ_SEED=n repeats a run. */
const seed = chosenSeed();
const objectsMax = Number(process.env['FUZZ_OBJECTS'] ?? 4_000);
/** The default number is cut short on a busy machine. */
const timeMs = process.env['FUZZ_OBJECTS'] === undefined ? 9_000 : 3_600_000;
const requestsAtOnce = 8;
const batchesPerRound = 40;

const json = (value: unknown): Pick<FuzzRequest, 'headers' | 'body' | 'framing'> => ({
  headers: [['content-type', 'application/json']],
  body: Buffer.from(JSON.stringify(value)),
  framing: 'length',
});
const shapes = [
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/yaml',
];

describe('objects of every kind', () => {
  const server = new ServerUnderFuzz();
  let kinds: readonly KindUnderFuzz[];
  beforeAll(async () => {
    await server.start({ runtimeConfig: { 'api/all': true } });
    const served = server.keelson.components.registry.servedVersions().flatMap(({ resources }) => resources);
    kinds = kindsUnderFuzz(served, new Catalog(namingProfile('kubernetes')));
    await makeAll();
  });
  afterAll(() => server.stop());

  /** Creates the target objects of updates and patches again if a request has deleted them. */
  async function makeAll(): Promise<void> {
    for (const { collection, template } of kinds) {
      const problem = await server.send({ method: 'POST', target: collection, ...json(template) });
      if (problem !== undefined) throw new Error(problem);
    }
  }

  /** Reads a stored object in all representations. */
  async function look({ named }: KindUnderFuzz, lane: number): Promise<string | undefined> {
    const accept = shapes[lane % shapes.length]!;
    return server.send({ method: 'GET', target: named, headers: [['accept', accept]] }, server.client(lane));
  }

  it(
    `are stored or refused, seed ${seed}`,
    async () => {
      const one = fc
        .nat({ max: kinds.length - 1 })
        .chain((at) => kinds[at]!.requests.map((request) => ({ kind: kinds[at]!, request })));
      const sent = await fuzzInBatches(one, {
        seed,
        timeMs,
        itemsMax: objectsMax,
        lanes: requestsAtOnce,
        check: async ({ kind, request }, lane) =>
          (await server.send(request, server.client(lane))) ?? (await look(kind, lane)),
        afterBatch: async (batches) => {
          await server.probe();
          if (batches % batchesPerRound === 0) await makeAll();
        },
      });
      expect(sent).toBeGreaterThan(kinds.length);
      process.stderr.write(`fuzz: ${sent} objects of ${kinds.length} kinds\n`);
    },
    timeMs + 60_000,
  );
});
