import fc from 'fast-check';
import { corpus } from './corpus.cases.js';
import { anyRequest, anyWrite, type FuzzRequest } from './requests.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';
import { chosenSeed } from '../harness/seed.js';

/** FUZZ_SECONDS=600 runs longer; SEED=n repeats a run. */
const seed = chosenSeed();
const fuzzMs = Number(process.env['FUZZ_SECONDS'] ?? 5) * 1_000;
const requestsAtOnce = 8;

/** Reports the requests, which are short, in the message of the failure. */
const reporter = (run: fc.RunDetails<[FuzzRequest[]]>): void => {
  if (run.failed && run.errorInstance) throw run.errorInstance as Error;
};

describe('random requests', () => {
  const server = new ServerUnderFuzz();
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  it.each(corpus)('$about', async (request) => {
    expect(await server.send(request)).toBeUndefined();
    await server.probe();
  });

  const fuzz = (name: string, requests: fc.Arbitrary<FuzzRequest>) =>
    it(
      `${name}, seed ${seed}`,
      async () => {
        server.hangUp();
        process.stderr.write(`fuzz: seed ${seed}\n`);
        let sent = 0;
        let found: string | undefined;
        let underWay = Promise.resolve();
        const batch = fc.array(requests, { minLength: requestsAtOnce, maxLength: requestsAtOnce });
        const step = async (all: readonly FuzzRequest[]) => {
          const problems = await Promise.all(all.map((request, lane) => server.send(request, server.client(lane))));
          sent += all.length;
          // Kept outside of the run, which may be over before a missing answer is noticed.
          found ??= problems.find((problem) => problem !== undefined);
          if (found !== undefined) throw new Error(found);
          await server.probe();
          if (sent % 400 === 0) await server.makeBases();
        };
        const property = fc.asyncProperty(batch, (all) => (underWay = step(all)));
        await fc.assert(property, {
          seed,
          numRuns: 1e6,
          interruptAfterTimeLimit: fuzzMs,
          endOnFailure: true,
          reporter,
        });
        // The last requests are still running when the time is up.
        await underWay;
        expect(found).toBeUndefined();
        expect(sent).toBeGreaterThan(50);
      },
      fuzzMs + 60_000,
    );
  fuzz('any request is answered as the API says', anyRequest);
  fuzz('any object is stored or refused', anyWrite);

  it('leave no watches, cursors or connections behind', async () => {
    await server.makeBases();
    expect(await server.rest()).toEqual({ watches: 0, cursors: 0, connections: 0 });
  });
});
