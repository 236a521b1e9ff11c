import fc from 'fast-check';
import { Catalog } from '../../src/catalog/catalog.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { kindsUnderFuzz, type KindUnderFuzz } from './kinds.js';
import type { FuzzRequest } from './requests.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';

/** FUZZ_OBJECTS=100000 looks at more of them; FUZZ_SEED=n at the same ones again. */
const seed = Number(process.env['FUZZ_SEED'] ?? process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const objectsMax = Number(process.env['FUZZ_OBJECTS'] ?? 4_000);
/** The usual number is for everyday, and cut short on a busy machine. */
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
    const served = server.keelson.parts.registry.servedVersions().flatMap(({ resources }) => resources);
    kinds = kindsUnderFuzz(served, new Catalog(namingProfile('kubernetes')));
    await makeAll();
  });
  afterAll(() => server.stop());

  /** What updates and patches are aimed at, where a request has removed it. */
  async function makeAll(): Promise<void> {
    for (const { collection, template } of kinds) {
      const problem = await server.send({ method: 'POST', target: collection, ...json(template) });
      if (problem !== undefined) throw new Error(problem);
    }
  }

  /** What was stored can be shown. */
  async function look({ named }: KindUnderFuzz, lane: number): Promise<string | undefined> {
    const accept = shapes[lane % shapes.length]!;
    return server.send({ method: 'GET', target: named, headers: [['accept', accept]] }, server.client(lane));
  }

  it(
    `are stored or refused, seed ${seed}`,
    async () => {
      process.stderr.write(`fuzz: seed ${seed}\n`);
      const one = fc
        .nat({ max: kinds.length - 1 })
        .chain((at) => kinds[at]!.requests.map((request) => ({ at, request })));
      const batch = fc.array(one, { minLength: requestsAtOnce, maxLength: requestsAtOnce });
      let sent = 0;
      let batches = 0;
      let found: string | undefined;
      let underWay: Promise<(string | undefined)[]> = Promise.resolve([]);
      const property = fc.asyncProperty(batch, async (all) => {
        underWay = Promise.all(
          all.map(async ({ at, request }, lane) => {
            const problem = await server.send(request, server.client(lane));
            return problem ?? (await look(kinds[at]!, lane));
          }),
        );
        const problems = await underWay;
        sent += all.length;
        found ??= problems.find((problem) => problem !== undefined);
        if (found !== undefined) throw new Error(found);
        await server.probe();
        if (++batches % batchesPerRound === 0) await makeAll();
      });
      await fc.assert(property, {
        seed,
        numRuns: Math.ceil(objectsMax / requestsAtOnce),
        interruptAfterTimeLimit: timeMs,
        endOnFailure: true,
        reporter: ({ failed, errorInstance }) => {
          if (failed && errorInstance) throw errorInstance as Error;
        },
      });
      // When the time is up the last ones are still on their way.
      await underWay;
      expect(found).toBeUndefined();
      expect(sent).toBeGreaterThan(kinds.length);
      process.stderr.write(`fuzz: ${sent} objects of ${kinds.length} kinds\n`);
    },
    timeMs + 60_000,
  );
});
