import {
  type AdmissionWebhooks,
  configMapRule,
  patched,
  type WebhookInstaller,
  type Answer,
} from '../harness/admission-webhook.js';
import type { Answer as HttpAnswer, HttpClient } from '../harness/http-client.js';
import { configMaps, dataOf, messageOf, webhookRequests, type WebhookRequests } from '../harness/webhook-requests.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
let { newName, post, mutating } = {} as WebhookRequests;
beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
  ({ newName, post, mutating } = webhookRequests(world));
});
afterAll(() => world.stop());

describe('mutations', () => {
  const add = (key: string, value: string) => ({ op: 'add', path: `/data/${key}`, value });

  it('are stored, and seen by validating webhooks', async () => {
    const { labels } = await mutating([{ answer: () => patched([add('b', '2')]) }]);
    const later = await installer.install('validating', [{ objectSelector: { matchLabels: labels } }]);
    const answer = await post(labels, { data: { a: '1' } });
    expect([answer.code, dataOf(answer)]).toEqual([201, { a: '1', b: '2' }]);
    expect(webhooks.reviews(later.paths[0]!)).toMatchObject([{ object: { data: { a: '1', b: '2' } } }]);
  });

  it('are made one after the other, by name of the configuration and then in its order', async () => {
    const append =
      (letter: string): Answer =>
      ({ object }) => {
        const { data } = object as { readonly data: Record<string, string> };
        return patched([{ op: 'replace', path: '/data/a', value: `${data['a']}${letter}` }]);
      };
    const second = await mutating([{ answer: append('2') }, { answer: append('3') }], 'm');
    const objectSelector = { matchLabels: second.labels };
    await mutating([{ objectSelector, answer: append('4') }], 'n');
    await mutating([{ objectSelector, answer: append('1') }], 'l');
    expect(dataOf(await post(second.labels, { data: { a: '0' } }))).toEqual({ a: '01234' });
  });

  it('reinvocationPolicy IfNeeded calls a webhook again after changes by later ones only', async () => {
    let serial = 0;
    const once =
      (key: string): Answer =>
      ({ object }) =>
        (object as { readonly data: Record<string, string> }).data[key] === undefined
          ? patched([add(key, String(serial++))])
          : { allowed: true };
    const { labels, paths } = await mutating([
      { reinvocationPolicy: 'IfNeeded', answer: once('a') },
      { reinvocationPolicy: 'Never', answer: once('b') },
      { reinvocationPolicy: 'IfNeeded', answer: once('c') },
      { reinvocationPolicy: 'IfNeeded' },
    ]);
    expect(dataOf(await post(labels, { data: { x: 'x' } }))).toEqual({ x: 'x', a: '0', b: '1', c: '2' });
    expect(paths.map((path) => webhooks.at(path).length)).toEqual([2, 1, 1, 1]);
  });

  it('are defaulted and validated like a submitted object', async () => {
    const rules = [{ ...configMapRule, resources: ['pods'] }];
    const container = { name: 'added', image: 'i' };
    const { labels, paths } = await mutating([
      { rules, answer: () => patched([{ op: 'add', path: '/spec/containers/-', value: container }]) },
    ]);
    const pods = '/api/v1/namespaces/default/pods?dryRun=All';
    const pod = { metadata: { name: newName(), labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const created = await admin.post(pods, pod);
    expect(created.body).toMatchObject({
      spec: { containers: [{ name: 'c' }, { name: 'added', imagePullPolicy: 'Always' }] },
    });
    webhooks.on(paths[0]!, () => patched([{ op: 'remove', path: '/spec/containers' }]));
    expect((await admin.post(pods, pod)).code).toBe(422);
  });

  it.each<[string, unknown, number, string | RegExp]>([
    ['that remove the name', [{ op: 'remove', path: '/metadata/name' }], 422, /name or generateName is required$/],
    [
      'that change the namespace',
      [{ op: 'replace', path: '/metadata/namespace', value: 'x' }],
      400,
      /^the namespace of/,
    ],
    [
      'that change the kind',
      [{ op: 'replace', path: '/kind', value: 'Secret' }],
      400,
      /cannot be handled as a ConfigMap/,
    ],
    [
      'that do not apply',
      [{ op: 'remove', path: '/none' }],
      500,
      /^Internal error occurred: the patch of admission webhook/,
    ],
    ['that are no JSON', '{[', 500, /is not JSON$/],
    ['that are no list', '{}', 500, /cannot be applied/],
    ['of a wrong type', [{ op: 'add', path: '/data', value: 5 }], 500, /^Internal error occurred: /],
  ])('%s are refused', async (_title, operations, code, message) => {
    const { labels } = await mutating([{ answer: () => patched(operations) }]);
    const answer = await post(labels);
    expect([answer.code, messageOf(answer)]).toEqual([code, expect.stringMatching(message)]);
  });

  it('of metadata.uid are ignored', async () => {
    const { labels } = await mutating([
      { answer: () => patched([{ op: 'replace', path: '/metadata/uid', value: 'mine' }]) },
    ]);
    const { code, body } = await post(labels);
    expect([code, (body as { readonly metadata: { readonly uid: string } }).metadata.uid]).toEqual([
      201,
      expect.not.stringMatching('mine'),
    ]);
  });

  it('of a deletion are refused (500)', async () => {
    const rules = [{ ...configMapRule, operations: ['DELETE'] }];
    const { labels } = await mutating([{ rules, answer: () => patched([{ op: 'add', path: '/data', value: {} }]) }]);
    const name = newName();
    await admin.post(configMaps, { metadata: { name, labels } });
    const answer = await admin.delete(`${configMaps}/${name}`);
    expect([answer.code, messageOf(answer)]).toEqual([500, expect.stringContaining('attempted to modify the object')]);
    expect((await admin.get(`${configMaps}/${name}`)).code).toBe(200);
  });
});

describe('metadata.managedFields after mutating webhooks', () => {
  interface Entry {
    readonly manager?: string;
    readonly fieldsV1?: object;
  }
  const entriesOf = ({ body }: HttpAnswer) =>
    (body as { readonly metadata: { readonly managedFields?: readonly Entry[] } }).metadata.managedFields;
  const ownEntry = { manager: 'tests', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
  const entry = (fields: object) => ({ ...ownEntry, manager: 'hook', fieldsV1: { 'f:data': {} }, ...fields });
  const replaced = (value: unknown) => patched([{ op: 'replace', path: '/metadata/managedFields', value }]);
  /** Creates a ConfigMap, updates it and patches it, each through a webhook with this answer. */
  const writtenThrough = async (answer: Answer) => {
    const rules = [{ ...configMapRule, operations: ['CREATE', 'UPDATE'] }];
    const { labels } = await mutating([{ rules, answer }]);
    const name = newName();
    const metadata = { name, labels };
    const created = await admin.post(`${configMaps}?fieldManager=tests`, { metadata, data: { a: '1' } });
    const path = `${configMaps}/${name}?fieldManager=tests`;
    const updated = await admin.put(path, { metadata, data: { a: '2' } });
    const patch = { metadata: { labels }, data: { a: '3' } };
    return [created, updated, await admin.patch(path, patch, 'application/merge-patch+json')];
  };

  it('fields that a webhook adds belong to no manager', async () => {
    const answers = await writtenThrough(({ object }) => {
      const { data } = object as { readonly data: Record<string, string> };
      return data['b'] === undefined ? patched([{ op: 'add', path: '/data/b', value: 'x' }]) : { allowed: true };
    });
    for (const answer of answers) {
      expect(dataOf(answer)).toMatchObject({ b: 'x' });
      const text = JSON.stringify(entriesOf(answer));
      expect(text).toContain('"f:a":{}');
      expect(text).not.toContain('f:b');
    }
  });

  it.each<[string, object, string]>([
    ['an unknown operation', entry({ operation: 'Replace' }), 'operation must be `Apply` or `Update`'],
    ['no apiVersion', entry({ apiVersion: '' }), 'apiVersion must not be empty'],
    ['no fieldsType', entry({ fieldsType: '' }), 'missing fieldsType in managed fields entry 0'],
    [
      'an unknown fieldsType',
      entry({ fieldsType: 'FieldsV2' }),
      'invalid fieldsType "FieldsV2" in managed fields entry 0',
    ],
    ['a field that cannot be read', entry({ fieldsV1: { 'k:{': {} } }), 'error decoding versioned set'],
  ])('an entry with %s restores those before, with a warning', async (_title, invalid, problem) => {
    const answers = await writtenThrough(() => replaced([invalid]));
    expect(answers.map(({ code }) => code)).toEqual([201, 200, 200]);
    for (const answer of answers) {
      expect(entriesOf(answer)).toMatchObject([{ manager: 'tests', fieldsV1: { 'f:data': { 'f:a': {} } } }]);
      expect(answer.headers.warning).toContain(
        '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating ' +
          `admission controller; please fix your requests: ${problem.replace(/"/g, '\\"')}`,
      );
    }
  });

  it('entries that can be read are stored as the webhook wrote them, also none', async () => {
    const [created] = await writtenThrough(() => replaced([entry({})]));
    expect(entriesOf(created!)).toEqual([entry({})]);
    const answers = await writtenThrough(() => replaced([]));
    for (const answer of answers) expect([entriesOf(answer), answer.headers.warning]).toEqual([undefined, undefined]);
  });
});
