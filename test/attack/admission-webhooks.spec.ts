import type { ServerResponse } from 'node:http';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import {
  type AdmissionWebhooks,
  patched,
  respond,
  type WebhookInstaller,
  type Review,
} from '../harness/admission-webhook.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { misbehaviours, text, webhookText, type Misbehaviour } from '../harness/misbehaviours.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

/** Webhooks that misbehave: failurePolicy decides about the request, nothing is half-written, and the server goes on. */
const configMaps = '/api/v1/namespaces/default/configmaps';
const logged: string[] = [];
const keep = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
const errors: string[] = [];
const logger: Logger = {
  ...silentLogger,
  warn: keep,
  error: (message, fields) => {
    errors.push(message);
    keep(message, fields);
  },
};

let webhooks: AdmissionWebhooks;
let world: WebhookWorld;
let admin: HttpClient;
let installer: WebhookInstaller;
/** Webhooks by kind and failurePolicy; `soon`: with a timeout of 1 s. */
const installed = new Map<string, { readonly labels: object; readonly path: string }>();

beforeAll(async () => {
  world = await startWebhookWorld({ logger });
  ({ admin, webhooks, installer } = world);
  for (const kind of ['mutating', 'validating'] as const) {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      for (const timeoutSeconds of [1, 30]) {
        const { labels, paths } = await installer.install(kind, [{ failurePolicy, timeoutSeconds }]);
        const name = timeoutSeconds === 1 ? `${kind} ${failurePolicy} soon` : `${kind} ${failurePolicy}`;
        installed.set(name, { labels, path: paths[0]! });
      }
    }
  }
});
beforeEach(() => void errors.splice(0));
afterAll(() => world.stop());

const accepting = ({ apiVersion, request: { uid } }: Review) =>
  JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid, allowed: true } });
const fields =
  (given: object): Misbehaviour<Review> =>
  (response, _request, review) =>
    respond(response, review, { allowed: true, ...given });

/** Sends a byte from time to time. */
function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write(' ')), 50);
}

/** Misbehaviours that only the timeout ends. */
const neverEnding = ['a webhook that hangs', 'a slow trickle'];

const failures: readonly (readonly [string, Misbehaviour<Review>])[] = [
  ['a webhook that hangs', () => undefined],
  ['a slow trickle', trickle],
  ['null', text('null')],
  ['another document', text(JSON.stringify({ kind: 'Secret', data: { webhookText } }))],
  ['another uid', fields({ uid: webhookText })],
  ['a text as allowed', fields({ allowed: webhookText })],
  ['lists as everything', fields({ status: [], warnings: {}, auditAnnotations: [] })],
  ['5,000 nested objects', text(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)],
  ['a property of prototypes', text('{"__proto__":{"polluted":true},"response":{"allowed":true}}')],
  ...misbehaviours(accepting),
];

let count = 0;
async function write(
  target: string,
  data: object = { a: 'b' },
): Promise<{ readonly answer: Answer; readonly isStored: boolean }> {
  const name = `o${count++}`;
  const { labels } = installed.get(target)!;
  const answer = await admin.post(configMaps, { metadata: { name, labels }, data });
  const isStored = (await admin.get(`${configMaps}/${name}`)).code === 200;
  return { answer, isStored };
}

describe.each(['mutating', 'validating'])('%s', (kind) => {
  it.each(failures)('%s', async (title, misbehave) => {
    const suffix = neverEnding.includes(title) ? ' soon' : '';
    const targets = [`${kind} Fail${suffix}`, `${kind} Ignore${suffix}`] as const;
    for (const target of targets)
      webhooks.onRequest(installed.get(target)!.path, (response, review, request) =>
        misbehave(response, request, review),
      );
    const [failed, ignored] = await Promise.all([write(targets[0]), write(targets[1])]);
    expect([failed.answer.code, failed.isStored]).toEqual([500, false]);
    expect(failed.answer.body).toMatchObject({ kind: 'Status', reason: 'InternalError' });
    expect(failed.answer.text).toContain('failed calling webhook');
    expect(failed.answer.text).not.toContain(webhookText);
    expect([ignored.answer.code, ignored.isStored]).toEqual([201, true]);
    expect(webhooks.at('/elsewhere')).toEqual([]);
    expect(errors).toEqual([]);
    expect({}).not.toHaveProperty('polluted');
    expect((await admin.get('/readyz')).code).toBe(200);
  });
});

it('no log line has text of an answer', () => {
  expect(logged.some((line) => line.includes('an admission webhook could not be asked'))).toBe(true);
  expect(logged.filter((line) => line.includes(webhookText))).toEqual([]);
});

it('a webhook that does not answer yet delays no other request', async () => {
  const { path } = installed.get('validating Fail')!;
  const asked = new Promise<() => void>((resolve) => {
    webhooks.onRequest(path, (response, review) => resolve(() => respond(response, review, { allowed: true })));
  });
  const slow = write('validating Fail');
  const answer = await asked;
  for (let other = 0; other < 20; other++) {
    expect((await admin.post(configMaps, { metadata: { name: `free-${other}` } })).code).toBe(201);
  }
  answer();
  expect((await slow).answer.code).toBe(201);
});

const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const copies = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/c${index}` }));

describe('patches', () => {
  // The policy of failures does not apply: the webhook was asked, and the object cannot be as it wants.
  it.each<[string, unknown]>([
    ['a patch with __proto__ as a key', '[{"op":"add","path":"/data","value":{"__proto__":{"polluted":"yes"}}}]'],
    ['100,000 operations', Array.from({ length: 100_000 }, () => ({}))],
    ['operations beyond the limit', Array.from({ length: 10_001 }, () => add('/data/x', 'y'))],
    ['copies that double the object', copies],
    [
      'a list of 60,000 values',
      [
        add(
          '/data',
          Array.from({ length: 60_000 }, () => 0),
        ),
      ],
    ],
    ['5,000 nested lists', `[{"op":"add","path":"/data","value":${'['.repeat(5_000)}${']'.repeat(5_000)}}]`],
    ['an operation without a path', [{ op: 'add', value: 1 }]],
    ['operations that are texts', ['add']],
    ['a removal of the whole object', [{ op: 'remove', path: '' }]],
    ['a replacement of the whole object by null', [{ op: 'replace', path: '', value: null }]],
    ['a replacement of the metadata by a number', [{ op: 'replace', path: '/metadata', value: 5 }]],
  ])('%s does not change the object', async (_title, operations) => {
    webhooks.on(installed.get('mutating Ignore')!.path, () => patched(operations));
    const { answer, isStored } = await write('mutating Ignore');
    expect([answer.code >= 400, isStored]).toEqual([true, false]);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure' });
    expect(errors).toEqual([]);
    expect({}).not.toHaveProperty('polluted');
    expect((await admin.get('/readyz')).code).toBe(200);
  });

  it('paths through __proto__ and constructor are ordinary keys', async () => {
    webhooks.on(installed.get('mutating Ignore')!.path, () =>
      patched([add('/data/constructor', 'c'), add('/data/toString', 't')]),
    );
    const { answer } = await write('mutating Ignore');
    expect(answer.body).toMatchObject({ data: { a: 'b', constructor: 'c', toString: 't' } });
    webhooks.on(installed.get('mutating Ignore')!.path, () => patched([add('/data/__proto__', { polluted: 'yes' })]));
    await write('mutating Ignore');
    expect({}).not.toHaveProperty('polluted');
  });
});

it('warnings and audit annotations without an end are cut', async () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `warning ${index} ${'x'.repeat(100)}`);
  webhooks.on(installed.get('validating Fail')!.path, () => ({
    allowed: true,
    warnings: many,
    auditAnnotations: Object.fromEntries(many.map((key) => [key, key])),
  }));
  const { answer } = await write('validating Fail');
  expect(answer.code).toBe(201);
  const warnings = [answer.headers['warning']].flat().join('');
  expect(warnings).toContain('warning 0 ');
  expect(warnings.length).toBeLessThan(8_192);
});

it.each([
  ['a code beyond HTTP', { code: 99_999 }, 400],
  ['a code below HTTP', { code: -1 }, 400],
  ['a reason of prototypes', { code: 422, reason: '__proto__' }, 422],
  ['line breaks', { code: 403, message: 'a\r\nSet-Cookie: x=y', reason: 'b\r\nc' }, 403],
])('a denial with %s is a Status', async (_title, status, want) => {
  webhooks.on(installed.get('validating Fail')!.path, () => ({ allowed: false, status }));
  const { answer, isStored } = await write('validating Fail');
  expect([answer.code, isStored]).toEqual([want, false]);
  expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', code: want });
  expect(answer.headers['set-cookie']).toBeUndefined();
});
