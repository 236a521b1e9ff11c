import { AdmissionChain } from '../admission/admission-chain.js';
import { submittedPod } from '../../test/harness/write-world.js';
import { VerbWorld } from '../../test/harness/verb-world.js';
import { registryOf } from '../../test/harness/shell.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { emptyQuery } from '../machinery/query.js';
import type { HandlerResult, SubresourceRequest } from '../registry/apis/api-group.js';
import { defineResource, type HandledSubresource } from '../registry/definition/resource-definition.js';
import { statusSubresource } from '../registry/definition/status-subresource.js';
import { defaultTable } from '../registry/definition/table.js';
import { createObject } from '../registry/write/create.js';
import { DeclaredValidation } from '../registry/write/declared-validation.js';
import { FieldReport } from '../registry/write/submission.js';
import { silentLogger } from '../std/logger.js';
import { callSubresource, callVirtual, handledSubresource } from './subresource.js';
import { update } from './update.js';
import { viewSubresourceOf } from './view-subresource.js';

const eviction = { group: 'policy', version: 'v1', kind: 'Eviction' };
const handledBy = (more: Partial<HandledSubresource> = {}): HandledSubresource => ({
  type: 'handled',
  verbs: ['create', 'get', 'update', 'patch'],
  kind: eviction,
  ...more,
});
const subresources = {
  eviction: handledBy({ alsoVersions: ['v1beta1'] }),
  exec: handledBy({ connects: true }),
  log: handledBy({ verbs: ['get'] }),
  withoutMethod: handledBy(),
  status: statusSubresource(),
};

let world: VerbWorld;
let requests: SubresourceRequest[];
let result: HandlerResult;
beforeEach(async () => {
  world = new VerbWorld({}, { subresources });
  requests = [];
  result = { object: { kind: 'Status', apiVersion: 'v1', metadata: {} } };
  await world.start();
});
afterEach(() => world.stop());

const bodyOf = (value: unknown) => ({ value, fields: new FieldReport('Strict', []) });
const evictionOf = (more: object = {}) => ({
  kind: 'Eviction',
  apiVersion: 'policy/v1',
  metadata: { name: 'a' },
  ...more,
});

function call(subresource: string, verb: SubresourceRequest['verb'], value?: unknown) {
  const handler = (request: SubresourceRequest) => (requests.push(request), Promise.resolve(result));
  const handlers = new Map(['eviction', 'exec', 'log'].map((name) => [name, handler]));
  const target = { ...world.target('a'), served: { ...world.served, handlers } };
  const query = { first: () => undefined, all: () => [] };
  return callSubresource(
    world.chain,
    target,
    subresource,
    verb,
    value === undefined ? undefined : bodyOf(value),
    query,
  );
}

// prettier-ignore
it.each<[string, () => Promise<unknown>, number]>([
  ['a subresource that does not exist', () => call('nothing', 'get'), 404],
  ['a name that every JavaScript object has', () => call('constructor', 'get'), 404],
  ['a view', () => call('status', 'get'), 404],
  ['a subresource without a method', () => call('withoutMethod', 'create', evictionOf()), 404],
  ['a subresource by a verb that it lacks', () => call('log', 'create', evictionOf()), 405],
  ['a subresource with a body of another kind', () => call('eviction', 'create', { ...submittedPod('a') }), 400],
  ['a subresource with a body of an unknown version', () => call('eviction', 'create', evictionOf({ apiVersion: 'policy/v2' })), 400],
  ['a subresource with an unknown field and Strict', () => call('eviction', 'create', evictionOf({ extra: 1 })), 400],
  ['a subresource with a body of another namespace', () => call('eviction', 'create', evictionOf({ metadata: { name: 'a', namespace: 'o' } })), 400],
])('calling %s is rejected before admission and the method', async (_what, call, code) => {
  await expect(call()).rejects.toMatchObject({ code });
  expect([world.admitted, requests]).toEqual([[], []]);
});

it.each<[string, SubresourceRequest['verb'], string | undefined]>([
  ['eviction', 'create', 'CREATE'],
  ['eviction', 'update', 'UPDATE'],
  ['eviction', 'patch', 'UPDATE'],
  ['eviction', 'get', undefined],
  ['exec', 'get', 'CONNECT'],
])('admission of pods/%s with verb %s is of operation %s', async (subresource, verb, operation) => {
  await call(subresource, verb, verb === 'get' ? undefined : evictionOf());
  const seen = { operation, resource: { group: '', resource: 'pods' }, kind: 'Eviction', subresource, namespace: 'ns', name: 'a' }; // prettier-ignore
  expect(world.admitted).toMatchObject(
    operation
      ? [
          { step: 'admit', ...seen },
          { step: 'validate', ...seen },
        ]
      : [],
  );
  expect(requests).toMatchObject([{ verb, namespace: 'ns', name: 'a' }]);
});

it.each<[string, SubresourceRequest['verb'], Partial<HandlerResult>, object]>([
  ['a create without a code', 'create', {}, { type: 'computed', code: 201 }],
  ['an update without a code', 'update', {}, { type: 'computed', code: 200 }],
  ['a code', 'create', { code: 202 }, { type: 'computed', code: 202 }],
  ['no object', 'create', { object: undefined }, { type: 'nothing', code: 204 }],
])('the answer of a method that returns %s', async (_what, verb, returned, want) => {
  result = { ...result, ...returned };
  expect(await call('eviction', verb, evictionOf())).toMatchObject(want);
});

it('a body of an older version with the same fields reaches the method in the known version', async () => {
  await call('eviction', 'create', evictionOf({ apiVersion: 'policy/v1beta1' }));
  expect(requests).toMatchObject([{ body: { kind: 'Eviction', apiVersion: 'policy/v1' } }]);
});

it.each<[string, 'get' | 'update' | 'patch', object | undefined]>([
  ['', 'update', undefined],
  ['status', 'get', subresources.status],
])('the view of subresource "%s" for verb %s', (name, verb, want) =>
  expect(viewSubresourceOf(world.served, name, verb)).toBe(want),
);

it.each<[string, () => unknown, number]>([
  ['a view that does not exist', () => viewSubresourceOf(world.served, 'nothing', 'get'), 404],
  ['the view of a handled subresource', () => viewSubresourceOf(world.served, 'log', 'get'), 404],
  ['a handled subresource that does not exist', () => handledSubresource(world.served, 'toString'), 404],
])('the search for %s is an error', (_what, find, code) =>
  expect(find).toThrow(expect.objectContaining({ code }) as Error),
);

it('a view without the verb of the request is an error (405)', () => {
  const readOnly = { ...subresources.status, verbs: ['get' as const] };
  const served = { ...world.served, definition: { ...world.definition, subresources: { status: readOnly } } };
  expect(viewSubresourceOf(served, 'status', 'get')).toBe(readOnly);
  expect(() => viewSubresourceOf(served, 'status', 'update')).toThrow(expect.objectContaining({ code: 405 }) as Error);
});

it('a POST to a resource without objects is admitted as CREATE without a name (201)', async () => {
  const review = { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', singular: 'selfsubjectaccessreview', namespaced: false }; // prettier-ignore
  const handle = ({ body }: { body: KubeObject }) =>
    Promise.resolve({ object: { ...body, status: { allowed: true } } });
  const body = { kind: review.kind, apiVersion: 'authorization.k8s.io/v1', spec: {} };
  const request = { namespace: '', context: world.request(), query: emptyQuery };
  const answer = await callVirtual(world.chain, { type: 'virtual', definition: review, handle }, request, world.store.dependencies, bodyOf(body)); // prettier-ignore
  expect(answer).toMatchObject({ type: 'computed', code: 201, object: { status: { allowed: true } } });
  expect(world.admitted).toMatchObject([{ operation: 'CREATE', kind: review.kind, name: '' }, { step: 'validate' }]);
});

describe('a write of a subresource', () => {
  const group = 'resource.k8s.io';
  const submitted = (status?: object) => ({
    kind: 'ResourcePoolStatusRequest',
    apiVersion: `${group}/v1alpha3`,
    metadata: { name: 'a' },
    spec: { driver: 'd.example.com' },
    ...(status && { status }),
  });

  /** A registry whose kind has no handwritten validation, and whose type declares `poolCount` with a minimum of 0. */
  async function serve(isOn: boolean) {
    const declaredValidation = new DeclaredValidation({
      isOn,
      takesOver: false,
      isEnabled: () => true,
      ownResourcePrefix: 'kubernetes.io/',
      logger: silentLogger,
    });
    const definition = defineResource({
      group,
      version: 'v1alpha3',
      kind: 'ResourcePoolStatusRequest',
      plural: 'resourcepoolstatusrequests',
      namespaced: false,
      strategy: { validateName: () => [], initialStatus: () => undefined },
      table: defaultTable,
      subresources: { status: statusSubresource() },
    });
    const served = registryOf([definition], [], {}, { declaredValidation }).require(
      group,
      'v1alpha3',
      definition.plural,
    );
    const { feed, kv } = served.store.dependencies;
    await feed.start(new AbortController().signal);
    const request = world.request();
    const admission = { admit: () => Promise.resolve(), validate: () => Promise.resolve() };
    const managedFields = { mode: 'track', definition, subresource: '' } as const;
    await createObject(served.store, submitted(), { request, admission, managedFields });
    return {
      put: (status: object) =>
        update(
          new AdmissionChain([]),
          { served, namespace: '', name: 'a', context: request },
          'status',
          bodyOf(submitted(status)),
          () => Promise.resolve(),
        ),
      async stop() {
        await feed.close();
        await kv.close();
      },
    };
  }

  const negative = { message: expect.stringContaining('status.poolCount: Invalid value: -1') as string, code: 422 };
  it.each<[string, boolean, object, object]>([
    ['that its type allows is stored (200)', true, { poolCount: 1 }, { type: 'stored', code: 200 }],
    ['that only a declared rule refuses is rejected (422)', true, { poolCount: -1 }, negative],
    ['that a declared rule refuses is stored if the feature gate is off (200)', false, { poolCount: -1 }, { type: 'stored', code: 200 }], // prettier-ignore
  ])('%s', async (_what, isOn, status, want) => {
    const { put, stop } = await serve(isOn);
    expect(await put(status).catch((error: unknown) => error)).toMatchObject(want);
    await stop();
  });
});
