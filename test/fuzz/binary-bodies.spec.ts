import fc from 'fast-check';
import { Catalog } from '../../src/catalog/catalog.js';
import { cborEncoding } from '../../src/codec/cbor.js';
import type { Encoding } from '../../src/codec/encoding.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { damaged } from './bytes.js';
import { fuzzInBatches } from './fuzz-run.js';
import { kindsUnderFuzz, type KindUnderFuzz } from './kinds.js';
import type { FuzzRequest } from './requests.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';
import { chosenSeed } from '../harness/seed.js';

/** FUZZ_OBJECTS=100000 sends more; FUZZ_SEED=n repeats a run. */
const seed = chosenSeed();
const itemsMax = Number(process.env['FUZZ_OBJECTS'] ?? 4_000);
const timeMs = process.env['FUZZ_OBJECTS'] === undefined ? 6_000 : 3_600_000;
const lanes = 8;

const catalog = new Catalog(namingProfile('kubernetes'));
const protobuf = protobufEncoding('application/vnd.kubernetes.protobuf', () => catalog);
const cbor = cborEncoding(() => catalog);

interface Sent {
  readonly request: FuzzRequest;
  readonly kind: KindUnderFuzz;
}

describe('protobuf and CBOR bodies with damaged bytes', () => {
  const server = new ServerUnderFuzz();
  let kinds: readonly KindUnderFuzz[];
  beforeAll(async () => {
    await server.start({ runtimeConfig: { 'api/all': true }, featureGates: { CBORServingAndStorage: true } });
    const served = server.keelson.components.registry.servedVersions().flatMap(({ resources }) => resources);
    kinds = kindsUnderFuzz(served, catalog);
    await createAll();
  });
  afterAll(() => server.stop());

  async function createAll(): Promise<void> {
    for (const { collection, template } of kinds) {
      const body = Buffer.from(JSON.stringify(template));
      const headers = [['content-type', 'application/json']] as const;
      const problem = await server.send({ method: 'POST', target: collection, headers, body, framing: 'length' });
      if (problem !== undefined) throw new Error(problem);
    }
  }

  /** Dry runs, since some kinds affect all other requests. */
  const writes = (encoding: Encoding): fc.Arbitrary<Sent> =>
    fc
      .tuple(fc.nat({ max: kinds.length - 1 }), fc.constantFrom('POST', 'PUT', 'PATCH'), fc.boolean())
      .chain(([at, method, dryRun]) => {
        const kind = kinds[at]!;
        const isApply = method === 'PATCH' && encoding === cbor;
        const type = isApply ? 'application/apply-patch+cbor' : encoding.mediaType;
        const query = `?fieldManager=fuzz&fieldValidation=Warn${dryRun || isGoverning(kind) ? '&dryRun=All' : ''}`;
        const target = `${method === 'POST' ? kind.collection : kind.named}${query}`;
        return damaged(encoding.encode(kind.template)).map((body) => ({
          kind,
          request: { method, target, headers: [['content-type', type]] as const, body, framing: 'length' as const },
        }));
      });
  const isGoverning = ({ collection }: KindUnderFuzz) =>
    /admission|webhook|apiservices|resourcequotas|limitranges|flowschemas|prioritylevel|namespaces$|servicecidrs/.test(
      collection,
    );

  it.each([
    ['protobuf', protobuf],
    ['CBOR', cbor],
  ])(
    `every body is stored or refused with a Status, and stored objects can be read, seed ${seed}`,
    async (...[, encoding]) => {
      const tried = await fuzzInBatches(writes(encoding), {
        seed,
        timeMs,
        itemsMax,
        lanes,
        check: async ({ request, kind }, lane) => {
          const problem = await server.send(request, server.client(lane));
          const accept = lane % 2 === 0 ? 'application/json' : protobuf.mediaType;
          const get: FuzzRequest = { method: 'GET', target: kind.named, headers: [['accept', accept]] };
          return problem ?? (await server.send(get, server.client(lane)));
        },
        afterBatch: async (batches) => {
          await server.probe();
          if (batches % 40 === 0) await createAll();
        },
      });
      // The number depends on the machine.
      expect(tried).toBeGreaterThanOrEqual(lanes);
      process.stderr.write(`fuzz: ${tried} bodies of ${kinds.length} kinds\n`);
    },
    timeMs + 60_000,
  );
});
