import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals } from '../../../test/harness/strategies.js';
import { flowcontrolBootObjects } from './boot-objects.js';
import { flowSchemaStrategy } from './flow-schema.strategy.js';
import { flowSchemaTable } from './flow-schema.table.js';
import { mandatoryFlowSchemas } from './mandatory-objects.js';
import { priorityLevelStrategy } from './priority-level.strategy.js';
import { priorityLevelTable } from './priority-level.table.js';

const object = (kind: string, name: string, spec: object): KubeObject => ({
  kind,
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  metadata: { name },
  spec,
});
const schema = (spec: object, name = 's') =>
  object('FlowSchema', name, { priorityLevelConfiguration: { name: 'l' }, ...spec });
const level = (spec: object, name = 'l') => object('PriorityLevelConfiguration', name, spec);
const containing = (texts: readonly string[]) => texts.map((text) => expect.stringContaining(text) as string);

it('a new FlowSchema gets matchingPrecedence 1000 and an empty status', () =>
  expect(prepared(flowSchemaStrategy, { ...schema({}), status: { conditions: [{ type: 'x' }] } })).toEqual({
    ...schema({ matchingPrecedence: 1000 }),
    status: {},
  }));

const user = { kind: 'User', user: { name: 'u' } };
const urls = { verbs: ['*'], nonResourceURLs: ['*'] };
const resources = { verbs: ['get'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
const rules = (rule: object) => ({ rules: [{ subjects: [user], ...rule }] });
it.each<[string, object, string[]]>([
  ['required fields only', {}, []],
  ['no level', { priorityLevelConfiguration: {} }, ['priorityLevelConfiguration.name: Required value: must reference']],
  ['precedence 1', { matchingPrecedence: 1 }, ["only the schema named 'exempt'"]],
  ['precedence -1', { matchingPrecedence: -1 }, ['must be a positive value']],
  ['precedence 10001', { matchingPrecedence: 10_001 }, ['must not be greater than 10000']],
  ['an unknown distinguisher', { distinguisherMethod: { type: 'X' } }, ['Unsupported value: {"Type":"X"}']],
  ['a rule without subjects', rules({ subjects: [], nonResourceRules: [urls] }), ['subjects: Required']],
  ['an empty rule', rules({}), ['spec.rules[0]: Required value: at least one of']],
  ['paths', rules({ nonResourceRules: [urls] }), []],
  ['a bad path', rules({ nonResourceRules: [{ ...urls, nonResourceURLs: ['x'] }] }), ['must start with slash']],
  [
    'a wildcard inside a path',
    rules({ nonResourceRules: [{ ...urls, nonResourceURLs: ['/*/x'] }] }),
    ['suffix matching'],
  ],
  ['resources', rules({ resourceRules: [resources] }), []],
  [
    'an unknown verb',
    rules({ resourceRules: [{ ...resources, verbs: ['see'] }] }),
    ['verbs: Unsupported value: ["see"]'],
  ],
  [
    'a wildcard beside a verb',
    rules({ resourceRules: [{ ...resources, verbs: ['*', 'get'] }] }),
    ['must not specify other verbs'],
  ],
  ['no namespace', rules({ resourceRules: [{ ...resources, namespaces: [] }] }), ['namespaces: Required value']],
  ['clusterScope alone', rules({ resourceRules: [{ ...resources, namespaces: [], clusterScope: true }] }), []],
  [
    'a subject of two kinds',
    rules({ subjects: [{ kind: 'User', group: { name: 'g' } }], nonResourceRules: [urls] }),
    ['subjects[0].user: Required', 'subjects[0].group: Forbidden'],
  ],
  [
    'an account without namespace',
    rules({ subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '*' } }], nonResourceRules: [urls] }),
    ['must specify namespace for service account'],
  ],
])('a FlowSchema with %s is validated', (_what, spec, want) =>
  expect(refusals(flowSchemaStrategy, schema(spec))).toEqual(containing(want)),
);

it('the spec of a mandatory FlowSchema cannot change', () => {
  expect(refusals(flowSchemaStrategy, object('FlowSchema', 'exempt', mandatoryFlowSchemas['exempt']!))).toEqual([]);
  expect(refusals(flowSchemaStrategy, schema({}, 'exempt'))).toEqual([
    'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"l"},"MatchingPrecedence":1000,"DistinguisherMethod":null,"Rules":null}: ' +
      "spec of 'exempt' must equal the fixed value",
  ]);
});

const limited = (rest: object, response: object = { type: 'Reject' }) => ({
  type: 'Limited',
  limited: { limitResponse: response, ...rest },
});
it.each<[object, object]>([
  [limited({}), limited({ nominalConcurrencyShares: 30, lendablePercent: 0 })],
  [
    limited({ nominalConcurrencyShares: 0 }, { type: 'Queue', queuing: { queues: 10 } }),
    limited(
      { nominalConcurrencyShares: 0, lendablePercent: 0 },
      { type: 'Queue', queuing: { queues: 10, handSize: 8, queueLengthLimit: 50 } },
    ),
  ],
  [
    { type: 'Exempt', exempt: {} },
    { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  ],
])('the defaults of the level %j are filled in', (spec, want) =>
  expect(prepared(priorityLevelStrategy, level(spec))['spec']).toEqual(want),
);

const queues = (queuing: object) => limited({}, { type: 'Queue', queuing });
it.each<[string, object, string[]]>([
  ['no type', {}, ['spec.type: Unsupported value: ""']],
  ['exempt', { type: 'Exempt' }, ["must be 'Exempt' if and only if"]],
  ['no limits', { type: 'Limited' }, ['spec.limited: Required value']],
  ['negative shares', limited({ nominalConcurrencyShares: -1 }), ['must be a non-negative integer']],
  ['much to lend', limited({ lendablePercent: 101 }), ['must be between 0 and 100, inclusive']],
  ['less to borrow', limited({ borrowingLimitPercent: -1 }), ['if specified, must be a non-negative integer']],
  ['no queues', limited({}, { type: 'Queue' }), ['queuing: Required value']],
  ['queues for nothing', limited({}, { type: 'Reject', queuing: {} }), ['queuing: Forbidden']],
  ['another response', limited({}, { type: 'X' }), ['limitResponse.type: Unsupported value: "X"']],
  ['a large hand', queues({ queues: 2, handSize: 4 }), ['should not be greater than queues (2)']],
  ['too many hands', queues({ queues: 1024, handSize: 7 }), ['required entropy bits of deckSize 1024 and handSize 7']],
  ['a fair deal', queues({}), []],
])('a PriorityLevelConfiguration with %s is validated', (_what, spec, want) =>
  expect(refusals(priorityLevelStrategy, level(spec))).toEqual(containing(want)),
);

it('the objects of a new cluster are valid', () => {
  const { flowSchemas, priorityLevels } = flowcontrolBootObjects(namingProfile('kubernetes'));
  const problems = [
    ...Object.entries(flowSchemas).flatMap(([name, spec]) => refusals(flowSchemaStrategy, schema(spec, name))),
    ...Object.entries(priorityLevels).flatMap(([name, spec]) => refusals(priorityLevelStrategy, level(spec, name))),
  ];
  expect(problems).toEqual([]);
  const levels = Object.values(flowSchemas).map(
    (spec) => (spec['priorityLevelConfiguration'] as { name: string }).name,
  );
  expect(levels.filter((name) => !Object.hasOwn(priorityLevels, name))).toEqual([]);
});

it('table rows of a FlowSchema and a PriorityLevelConfiguration', () => {
  const dangling = { status: { conditions: [{ type: 'Dangling', status: 'True' }] } };
  expect(flowSchemaTable.cells({ ...schema({ matchingPrecedence: 5 }), ...dangling }, { nowMs: 0 })).toEqual([
    ...['s', 'l', 5, '<none>', '<unknown>', 'True'],
  ]);
  expect(priorityLevelTable.cells(prepared(priorityLevelStrategy, level(queues({}))), { nowMs: 0 })).toEqual([
    ...['l', 'Limited', 30, 64, 8, 50, '<unknown>'],
  ]);
});
