import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { startOpenKeelson, type OpenKeelson } from '../../src/assembly/start-keelson.js';
import { collectGarbage } from '../harness/collect-garbage.js';
import { HttpClient } from '../harness/http-client.js';
import { RawClient } from './raw-client.js';
import { chosenSeed } from '../harness/seed.js';

/**
 * Random and malformed Authorization, Impersonate-* and X-Remote-* headers and tokens. FUZZ_CREDENTIALS=10000 sends that
 * number of requests by each protocol; SEED=n repeats a run.
 */
const seed = chosenSeed();
const requestsPerProtocol = Number(process.env['FUZZ_CREDENTIALS'] ?? 1_000);
const lanes = 8;

type Header = readonly [name: string, value: string];

interface Attempt {
  readonly headers: readonly Header[];
  /** True if the token of an unprivileged user is sent as it is: the answer may be for that user only. */
  readonly isEve: boolean;
}

const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
const secrets = { admin: 'Static-Admin-Token-71', eve: 'static-eve-token-72', bootstrap: 'abcdef.0123456789abcdef' };

const latin1 = (maxLength: number) =>
  fc.array(fc.integer({ min: 0x21, max: 0xff }), { maxLength }).map((codes) => String.fromCharCode(...codes));
/** Bytes that HTTP allows in no header value: control characters. */
const controls = fc
  .array(fc.constantFrom('\0', '\x01', '\b', '\x0b', '\x1f', '\x7f', 'a', ' '), { minLength: 1, maxLength: 20 })
  .map((chars) => chars.join(''));

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Tokens that resemble a valid one, and are not valid. */
function brokenTokens(token: string): fc.Arbitrary<string> {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const read = (segment: string) => JSON.parse(Buffer.from(segment, 'base64url').toString()) as Record<string, unknown>;
  const flipped = (segment: string, bit: number) => {
    const bytes = Buffer.from(segment, 'base64url');
    bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
    return bytes.toString('base64url');
  };
  const bit = fc.nat(100_000);
  const changed = (segment: string, fields: Record<string, unknown>) => base64url({ ...read(segment), ...fields });
  const anyValue = fc.oneof(fc.jsonValue(), fc.constant('none'), fc.constant('HS256'), fc.string({ maxLength: 40 }));
  const claim = fc.constantFrom('iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'kubernetes.io', '__proto__', 'crit');
  return fc.oneof(
    bit.map((at) => [header, claims, flipped(signature, at)].join('.')),
    bit.map((at) => [header, flipped(claims, at), signature].join('.')),
    bit.map((at) => [flipped(header, at), claims, signature].join('.')),
    fc.tuple(fc.constantFrom('alg', 'kid', 'typ', 'crit', 'jwk', 'b64'), anyValue).map(([name, value]) => {
      const next = changed(header, { [name]: value, x: 1 });
      return [next, claims, signature].join('.');
    }),
    fc
      .tuple(claim, anyValue)
      .map(([name, value]) => [header, changed(claims, { [name]: value, x: 1 }), signature].join('.')),
    fc.constantFrom('', 'AA', signature.slice(1), signature.slice(0, -8)).map((end) => [header, claims, end].join('.')),
    fc.jsonValue().map((value) => [base64url(value), base64url(value), signature].join('.')),
    fc.integer({ min: 1, max: 2_000 }).map((depth) => {
      const deep = Buffer.from('['.repeat(depth) + ']'.repeat(depth)).toString('base64url');
      return [header, deep, signature].join('.');
    }),
    fc.constantFrom(`${token}.${token}`, `${token}.`, `.${token}`, token.replaceAll('.', '..'), '..', '...'),
    fc.integer({ min: 1, max: 60_000 }).map((length) => 'a'.repeat(length)),
  );
}

const almost = (secret: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    ...[secret.slice(0, -1), `${secret}x`, secret.slice(1), secret.toUpperCase().replace('.', '-'), ` ${secret[0]}`],
    ...[`${secret},${secret}`, secret.replace(/.$/, '0'), Buffer.from(secret).toString('base64')],
  );

function attempts(token: string): fc.Arbitrary<Attempt> {
  const scheme = fc.constantFrom('Bearer ', 'bearer ', 'BEARER ', 'Basic ', 'Token ', 'Negotiate ', 'Bearer', '');
  const text = fc.oneof(
    { weight: 4, arbitrary: brokenTokens(token) },
    { weight: 2, arbitrary: fc.oneof(...Object.values(secrets).map(almost)) },
    { weight: 1, arbitrary: latin1(200) },
  );
  const authorization = fc.tuple(scheme, text).map(([before, after]): Header => ['authorization', before + after]);
  const names = fc.constantFrom(
    'admin',
    'system:admin',
    'root',
    'system:serviceaccount:default:robot',
    'system:node:n',
  );
  const value = fc.oneof(names, fc.constant('system:masters'), latin1(60), fc.constant(''));
  const suffix = fc.oneof(
    fc.constantFrom('scopes', '__proto__', 'a%2fb', '%zz', '%', 'a%00'),
    fc.stringMatching(/^[a-z0-9%_-]{1,20}$/),
  );
  const impersonation = fc.oneof(
    fc.tuple(fc.constantFrom('impersonate-user', 'impersonate-group', 'impersonate-uid', 'impersonate-'), value),
    fc.tuple(
      suffix.map((name) => `impersonate-extra-${name}`),
      value,
    ),
  );
  const remote = fc.oneof(
    fc.tuple(fc.constantFrom('x-remote-user', 'x-remote-group', 'x-remote-uid', 'x-remote-extra-'), value),
    fc.tuple(
      suffix.map((name) => `x-remote-extra-${name}`),
      value,
    ),
  );
  const others = fc.array(fc.oneof(impersonation, remote), { maxLength: 8 }) as fc.Arbitrary<Header[]>;
  const eve: Header = ['authorization', `Bearer ${secrets.eve}`];
  return fc.oneof(
    fc.tuple(authorization, others).map(([first, rest]) => ({ headers: [first, ...rest], isEve: false })),
    others.map((rest) => ({ headers: rest, isEve: false })),
    fc
      .array(remote as fc.Arbitrary<Header>, { maxLength: 4 })
      .map((rest) => ({ headers: [eve, ...rest], isEve: true })),
    others.map((rest) => ({ headers: [eve, ...rest], isEve: true })),
  );
}

/** Returns what is wrong with the answer, if anything. */
function problemOf({ isEve }: Attempt, code: number, body: string): string | undefined {
  if (code >= 500) return `${code}: ${body}`;
  if (code >= 400) return undefined;
  const { username } = (JSON.parse(body) as { status: { userInfo: { username: string } } }).status.userInfo;
  return isEve && username === 'eve' ? undefined : `authenticated as ${username}`;
}

describe('random credentials', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-credentials-'));
  const logged: string[] = [];
  let keelson: OpenKeelson;
  let samples: readonly Attempt[];
  let robotToken: string;

  beforeAll(async () => {
    const tokenAuthFile = join(directory, 'tokens.csv');
    writeFileSync(tokenAuthFile, `${secrets.admin},admin,1,"system:masters"\n${secrets.eve},eve,2\n`);
    const log = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
    keelson = await startOpenKeelson({
      config: { authentication: { tokenAuthFile, bootstrapTokens: true } },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const [id = '', secret = ''] = secrets.bootstrap.split('.');
    await admin.post('/api/v1/namespaces/kube-system/secrets', {
      metadata: { name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      data: {
        'token-id': base64(id),
        'token-secret': base64(secret),
        'usage-bootstrap-authentication': base64('true'),
      },
    });
    await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    robotToken = (await admin.post('/api/v1/namespaces/default/serviceaccounts/robot/token', {})).body.status
      .token as string;
    const whoAmI = async (token: string) =>
      (await admin.post(path, review, { authorization: `Bearer ${token}`, 'content-type': 'application/json' })).code;
    expect(await whoAmI(robotToken)).toBe(201);
    admin.close();
    process.stderr.write(`fuzz: seed ${seed}\n`);
    samples = fc.sample(attempts(robotToken), { numRuns: requestsPerProtocol, seed });
  });
  afterAll(async () => {
    await keelson.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Sends all samples by some lanes, and requires that no answer has a problem and memory does not grow. */
  async function sendAll(send: (attempt: Attempt, lane: number) => Promise<string | undefined>): Promise<void> {
    let heapAfterHalf = 0;
    const half = Math.floor(samples.length / 2);
    for (const [from, to] of [
      [0, half],
      [half, samples.length],
    ] as const) {
      let next = from;
      const work = async (lane: number) => {
        while (next < to) {
          const attempt = samples[next++]!;
          const problem = await send(attempt, lane);
          if (problem !== undefined) throw new Error(`${problem}\n  after ${JSON.stringify(attempt).slice(0, 2_000)}`);
        }
      };
      await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
      if (heapAfterHalf === 0) heapAfterHalf = await heapMiB();
    }
    expect((await heapMiB()) - heapAfterHalf).toBeLessThan(64);
    expect(logged.filter((line) => Object.values(secrets).some((secret) => line.includes(secret)))).toEqual([]);
    expect(logged.filter((line) => line.includes(robotToken))).toEqual([]);
  }

  const anonymous = () => ({ ...keelson, client: { certificate: '', key: '' } });
  const rawRequest = (headers: readonly Header[]) =>
    Buffer.from(
      [
        `POST ${path} HTTP/1.1`,
        'host: localhost',
        'content-type: application/json',
        `content-length: ${review.length}`,
        ...headers.map(([name, value]) => `${name}: ${value}`),
        '',
        review,
      ].join('\r\n'),
      'latin1',
    );

  it(`no request by HTTP/1.1 is authenticated by mistake or answered with 5xx, seed ${seed}`, async () => {
    const clients = Array.from({ length: lanes }, () => new RawClient(anonymous()));
    await sendAll(async (attempt, lane) => {
      const outcome = await clients[lane]!.exchange(rawRequest(attempt.headers), { hasBody: true, waitMs: 60_000 });
      if (typeof outcome === 'string') return `the connection was ${outcome}`;
      return problemOf(attempt, outcome.code, outcome.body.toString());
    });
    for (const client of clients) client.close();
  });

  it(`no request by HTTP/2 is authenticated by mistake or answered with 5xx, seed ${seed}`, async () => {
    const session = connect(keelson.url, { ca: keelson.ca });
    session.on('error', () => undefined);
    await sendAll((attempt) => byHttp2(session, attempt));
    session.destroy();
  });

  it('control characters in credentials are a 400, and end the connection (HTTP/1.1)', async () => {
    const client = new RawClient(anonymous());
    const names = ['authorization', 'impersonate-user', 'x-remote-user'];
    for (const value of fc.sample(controls, { numRuns: 60, seed })) {
      for (const name of names) {
        const outcome = await client.exchange(rawRequest([[name, `Bearer ${value}`]]), {
          hasBody: true,
          waitMs: 60_000,
        });
        const code = typeof outcome === 'string' ? outcome : outcome.code;
        expect([400, 401, 403, 'closed']).toContain(code);
      }
    }
    client.close();
  });
});

async function byHttp2(session: ClientHttp2Session, attempt: Attempt): Promise<string | undefined> {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of attempt.headers) {
    // Node's client joins no headers; Authorization may occur once.
    const known = headers[name];
    headers[name] = known === undefined || name === 'authorization' ? value : [known, value].flat();
  }
  const stream = session.request(
    { ':method': 'POST', ':path': path, 'content-type': 'application/json', ...headers },
    { endStream: false },
  );
  stream.end(review);
  const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return problemOf(attempt, Number(received[constants.HTTP2_HEADER_STATUS]), Buffer.concat(chunks).toString());
}

async function heapMiB(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
