import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRng } from '../../src/std/rng.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { HttpClient, type OpenAnswer, type Protocol } from '../harness/http-client.js';
import { chosenSeed } from '../harness/seed.js';

// Answers of several megabytes whose deadline passes at a random moment, on a server whose event loop is blocked: each
// is complete, refused with 504, or cut. None stays open.

const seed = chosenSeed();
const rng = new SeededRng(seed);
const requestTimeoutMs = 300;
/** Deadline, flush, blocked event loop; a busy machine needs more than their sum. */
const overMs = 100_000;
const path = '/api/v1/namespaces/default/configmaps';

let server: Keelson;
const clients = new Map<Protocol, HttpClient>();
beforeAll(async () => {
  server = await startKeelson({ config: { limits: { unreadBodyTimeoutMs: 300 } } });
  const admin = new HttpClient({ ...server, ...server.client });
  for (let n = 0; n < 14; n++) {
    const value = Array.from({ length: 40_000 }, () => rng.below(1e9).toString(36)).join(' ');
    expect((await admin.post(path, { metadata: { name: `a-${n}` }, data: { value } })).code).toBe(201);
  }
  for (const protocol of ['http/1.1', 'h2'] as const) {
    clients.set(protocol, new HttpClient({ ...server, ...server.client, protocol }));
  }
  admin.close();
});
afterAll(async () => {
  clients.forEach((client) => client.close());
  await server.stop();
});

type Reading = 'at once' | 'late' | 'too late';
const encodings = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  'application/json;pretty=1',
];

async function outcome(protocol: Protocol, accept: string, coding: string, reading: Reading): Promise<string> {
  const query = `?timeout=${20 + rng.below(requestTimeoutMs)}ms`;
  let answer: OpenAnswer;
  try {
    answer = await clients.get(protocol)!.open('GET', path + query, { headers: { accept, 'accept-encoding': coding } });
  } catch {
    return 'cut';
  }
  if (answer.code !== 200) {
    answer.body.resume();
    return String(answer.code);
  }
  let bytes = 0;
  if (reading === 'late') await sleep(rng.below(400));
  // A client that does not read does not notice the end either: it reads when everything must be over.
  if (reading === 'too late') await sleep(3_000);
  answer.body.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const ended = await Promise.race([answer.ended, sleep(overMs, 'open' as const, { ref: false })]);
  const announced = Number(answer.headers['content-length'] ?? 0);
  // A cut must be distinguishable from the end.
  if (ended === 'complete' && announced > 0) expect(bytes).toBe(announced);
  return ended;
}

/** Blocks the event loop again and again. */
function holdTheLoop(): () => void {
  const timer = setInterval(() => {
    const end = performance.now() + rng.below(250);
    while (performance.now() < end);
  }, 40);
  return () => clearInterval(timer);
}

test.each(['http/1.1', 'h2'] as const)(
  `answers past their deadline by %s are complete, refused or cut, seed ${seed}`,
  async (protocol) => {
    const seen = new Map<string, number>();
    for (let round = 0; round < 4; round++) {
      const release = holdTheLoop();
      const outcomes = encodings.flatMap((accept) =>
        ['identity', 'gzip'].flatMap((coding) =>
          (['at once', 'late', 'too late'] as const).map((reading) => outcome(protocol, accept, coding, reading)),
        ),
      );
      const all = await Promise.all(outcomes).finally(release);
      for (const one of all) seen.set(one, (seen.get(one) ?? 0) + 1);
    }
    expect([...seen.keys()].filter((one) => !['complete', 'cut', '504'].includes(one))).toEqual([]);
    process.stderr.write(`${protocol}: ${JSON.stringify(Object.fromEntries(seen))}\n`);
  },
  240_000,
);
