import type { CustomResourceDefinition } from '../../catalog/types/apiextensions.v1.js';
import { namingProfile } from '../../config/naming-profile.js';
import { revisionOf } from '../../machinery/revision.js';
import { claimOf } from './claims.js';
import { statusAfter, type StatusInput } from './decide.js';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-01T00:01:00Z';
const naming = namingProfile('kubernetes');
const names = { plural: 'mins', singular: 'min', kind: 'Min', listKind: 'MinList' };

interface DefinitionOptions {
  readonly name?: string;
  readonly wanted?: object;
  readonly accepted?: object | null;
  readonly conditions?: object[];
  readonly spec?: object;
  readonly metadata?: object;
}
const definition = ({
  name = 'mins',
  wanted = {},
  accepted,
  conditions,
  spec,
  metadata,
}: DefinitionOptions = {}): CustomResourceDefinition => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: `${name}.g.example.com`, ...metadata },
  spec: { group: 'g.example.com', names: { ...names, plural: name, ...wanted }, ...spec },
  status: {
    conditions: conditions ?? null,
    acceptedNames: accepted ?? { plural: '', kind: '' },
    storedVersions: ['v1'],
  },
});
const decided = (object: CustomResourceDefinition, rest: Partial<StatusInput> = {}) =>
  statusAfter(object, { revision: revisionOf(5), others: [], structure: undefined, naming, now: late, ...rest });

const condition = (type: string, status: string, reason: string, message: string, lastTransitionTime = late) => ({
  type,
  status,
  lastTransitionTime,
  reason,
  message,
});
const free = (time?: string) => condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found', time);
const initial = 'the initial names have been accepted';
const installing = (time?: string) => condition('Established', 'False', 'Installing', initial, time);
const established = (time?: string) => condition('Established', 'True', 'InitialNamesAccepted', initial, time);
const served = { accepted: names, conditions: [free(early), established(early)] };

describe('a definition without conflicts', () => {
  it('first gets its accepted names, and is established after they are written', () => {
    const first = decided(definition())!;
    expect(first).toEqual({ conditions: [free(), installing()], acceptedNames: names, storedVersions: ['v1'] });
    const second = decided(definition({ accepted: names, conditions: [free(early), installing(early)] }))!;
    expect(second).toEqual({ conditions: [free(early), established()], acceptedNames: names, storedVersions: ['v1'] });
  });

  it('needs no further change when it is established', () => expect(decided(definition(served))).toBeUndefined());

  it('gets changed names while it is established', () => {
    const wanted = { shortNames: ['m'], categories: ['all'], singular: 'minimum' };
    const after = decided(definition({ ...served, wanted }))!;
    expect(after.acceptedNames).toEqual({ ...names, ...wanted });
    expect(after.conditions).toEqual(served.conditions);
    const before = { ...served, accepted: { ...names, ...wanted } };
    expect(decided(definition(before))!.acceptedNames).toEqual(names);
  });

  it('is not established with an invalid caBundle of its conversion webhook', () => {
    const conversion = { strategy: 'Webhook', webhook: { clientConfig: { caBundle: 'bm9uZQ==' } } };
    const object = definition({ accepted: names, conditions: [free(early), installing(early)], spec: { conversion } });
    const message = 'The conversion webhook CABundle is invalid';
    expect(decided(object)!.conditions).toEqual([
      free(early),
      condition('Established', 'False', 'InvalidCABundle', message, early),
    ]);
  });

  it('is not changed when it is being deleted', () =>
    expect(decided(definition({ metadata: { deletionTimestamp: early } }))).toBeUndefined());
});

type Row = readonly [
  what: string,
  mine: DefinitionOptions,
  theirs: object,
  reason: string,
  message: string,
  accepted: object,
];
const without = (...fields: string[]) => ({
  plural: 'mins',
  kind: 'Min',
  singular: 'min',
  listKind: 'MinList',
  ...Object.fromEntries(fields.map((field) => [field, field === 'plural' || field === 'kind' ? '' : undefined])),
});
const rows: Row[] = [
  ['its plural', {}, { shortNames: ['mins'] }, 'PluralConflict', '"mins" is already in use', without('plural')],
  ['its singular', {}, { plural: 'min' }, 'SingularConflict', '"min" is already in use', without('singular')],
  [
    'a short name',
    { wanted: { shortNames: ['a', 'b'] } },
    { singular: 'b' },
    'ShortNamesConflict',
    '"b" is already in use',
    without(),
  ],
  [
    'all short names',
    { wanted: { shortNames: ['a', 'b'] } },
    { shortNames: ['a', 'b'] },
    'ShortNamesConflict',
    '["a" is already in use, "b" is already in use]',
    without(),
  ],
  ['its kind', {}, { listKind: 'Min' }, 'KindConflict', '"Min" is already in use', without('kind')],
  ['its list', {}, { kind: 'MinList' }, 'ListKindConflict', '"MinList" is already in use', without('listKind')],
  [
    'several names; the condition has the last',
    {},
    { singular: 'min', kind: 'Min' },
    'KindConflict',
    '"Min" is already in use',
    without('singular', 'kind'),
  ],
];
const other = (accepted: object, revision: number, isServed = false) =>
  claimOf(
    definition({ name: 'others', accepted, ...(isServed && { conditions: [established(early)] }) }),
    revisionOf(revision),
  );

describe('a definition with names of another one', () => {
  it.each(rows)('is not accepted for %s', (_what, own, theirs, reason, message, accepted) => {
    const after = decided(definition(own), { others: [other(theirs, 9)] })!;
    expect(after.acceptedNames).toEqual(accepted);
    expect(after.conditions).toEqual([
      condition('NamesAccepted', 'False', reason, message),
      condition('Established', 'False', 'NotAccepted', 'not all names are accepted'),
    ]);
  });

  it('stays established with its accepted names', () => {
    const wanted = { singular: 'minimum', shortNames: ['m'] };
    const mine = definition({ ...served, accepted: { ...names, shortNames: ['n'] }, wanted });
    const after = decided(mine, { others: [other({ singular: 'minimum', shortNames: ['m'] }, 9)] })!;
    expect(after.acceptedNames).toEqual({ ...names, shortNames: ['n'] });
    expect(after.conditions).toEqual([
      condition('NamesAccepted', 'False', 'ShortNamesConflict', '"m" is already in use'),
      established(early),
    ]);
  });

  it('is accepted when the other one is gone', () => {
    const refused = [
      condition('NamesAccepted', 'False', 'KindConflict', '"Min" is already in use', early),
      condition('Established', 'False', 'NotAccepted', 'not all names are accepted', early),
    ];
    const after = decided(definition({ accepted: { ...names, kind: '' }, conditions: refused }))!;
    expect(after).toMatchObject({ conditions: [free(), installing(early)], acceptedNames: names });
  });
});

describe('of two definitions that accepted a name at once', () => {
  const mine = { accepted: names, conditions: [free(early), installing(early)] };
  it.each<[string, DefinitionOptions, number, boolean, 'keeps' | 'releases']>([
    ['the earlier keeps it', mine, 9, false, 'keeps'],
    ['the later releases it', mine, 2, false, 'releases'],
    ['the one that is not established releases it', mine, 9, true, 'releases'],
    ['the established one keeps it', served, 2, true, 'keeps'],
  ])('%s: %#', (_what, given, revision, isServed, want) => {
    const { acceptedNames = names } =
      decided(definition(given), { others: [other({ kind: 'Min' }, revision, isServed)] }) ?? {};
    expect(acceptedNames.kind).toBe(want === 'keeps' ? 'Min' : '');
  });
});

const conformant = (status: string, reason: string, message: string) =>
  condition('KubernetesAPIApprovalPolicyConformant', status, reason, message);
it.each<[string, string | undefined, object | undefined]>([
  ['g.example.com', undefined, undefined],
  [
    'g.k8s.io',
    undefined,
    conformant(
      'False',
      'MissingAnnotation',
      'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ),
  ],
  [
    'g.k8s.io',
    'nonsense',
    conformant(
      'False',
      'InvalidAnnotation',
      'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
    ),
  ],
  ['g.k8s.io', 'unapproved, a test', conformant('False', 'UnapprovedAnnotation', 'not approved: "unapproved, a test"')],
  [
    'g.kubernetes.io',
    'https://example.com/pull/1',
    conformant('True', 'ApprovedAnnotation', 'approved in https://example.com/pull/1'),
  ],
])('the condition of a definition in group %s with approval %s', (group, approval, want) => {
  const metadata = { annotations: approval === undefined ? {} : { 'api-approved.kubernetes.io': approval } };
  expect(decided(definition({ spec: { group }, metadata }))!.conditions).toEqual([
    ...(want ? [want] : []),
    free(),
    installing(),
  ]);
});

it('has the condition NonStructuralSchema while its schemas are not structural', () => {
  const structure = { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message: 'm' } as const;
  const conditions = decided(definition(served), { structure })!.conditions;
  expect(conditions).toEqual([...served.conditions, condition('NonStructuralSchema', 'True', 'Violations', 'm')]);
  expect(decided(definition({ ...served, conditions: [...(conditions ?? [])] }))!.conditions).toEqual(
    served.conditions,
  );
});
