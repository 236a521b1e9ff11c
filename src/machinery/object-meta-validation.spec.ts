import type { FieldError } from './field-error.js';
import type { ObjectMeta } from './kube-object.js';
import { nameIsDnsSubdomain } from './names.js';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta-validation.js';

const lines = (errors: FieldError[]): string[] => errors.map(({ field, detail }) => `${field}: ${detail}`);
const rules = { validateName: nameIsDnsSubdomain };
const meta = (rest: ObjectMeta): ObjectMeta => ({ name: 'min', namespace: 'web', ...rest });

describe('validateObjectMeta', () => {
  it.each<[string, ObjectMeta, string[]]>([
    ['good', { labels: { a: 'b' }, annotations: { 'X.y/Z': '' }, finalizers: ['a.io/b', 'orphan'] }, []],
    ['no name', { name: '' }, ['metadata.name: Required value: name or generateName is required']],
    ['generated', { generateName: 'min-' }, []],
    ['no namespace', { namespace: '' }, ['metadata.namespace: Required value']],
    ['bad namespace', { namespace: 'a.b' }, ['metadata.namespace: Invalid value: "a.b": must not contain dots']],
    ['generation', { generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']],
    ['label key', { labels: { '/a': 'v' } }, ['metadata.labels: Invalid value: "/a": prefix part must be non-empty']],
    [
      'annotations too large',
      { annotations: { a: 'x'.repeat(262144) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    ['annotations at the size limit', { annotations: { a: 'x'.repeat(262143) } }, []],
    [
      'finalizer without a domain',
      { finalizers: ['plain'] },
      [
        'metadata.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [
      'both collectors',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'empty owner',
      { ownerReferences: [{} as never] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'an event as owner',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'p', uid: 'u' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'two controllers',
      {
        ownerReferences: ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'K', name, uid: name, controller: true })),
      },
      [
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"K","name":"a","uid":"a","controller":true},{"apiVersion":"v1","kind":"K","name":"b","uid":"b","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for K/a and K/b',
      ],
    ],
    [
      'managed fields',
      { managedFields: [{ manager: 'm', operation: 'Nope', fieldsType: 'X' }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "Nope": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "X": must be `FieldsV1`',
      ],
    ],
  ])('%s', (_name, given, want) => expect(lines(validateObjectMeta(meta(given), true, rules))).toEqual(want));

  it('the rules of a kind apply', () => {
    const cluster = validateObjectMeta(meta({}), false, rules);
    expect(lines(cluster)).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
    expect(
      validateObjectMeta(meta({ finalizers: ['plain'] }), true, { ...rules, finalizersNeedDomain: false }),
    ).toEqual([]);
  });
});

describe('validateObjectMetaUpdate', () => {
  const old = meta({ uid: 'u', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z' });
  it.each<[string, ObjectMeta, ObjectMeta, string[]]>([
    ['empty metadata', {}, old, []],
    ['unchanged metadata', old, old, []],
    ['a changed creationTimestamp', { creationTimestamp: '2001-01-01T00:00:00Z' }, old, []],
    ['name', { name: 'x' }, old, ['metadata.name: Invalid value: "x": field is immutable']],
    ['uid', { uid: 'other' }, old, ['metadata.uid: Invalid value: "other": field is immutable']],
    [
      'deletion from outside',
      { deletionTimestamp: '2001-01-01T00:00:00Z' },
      old,
      ['metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable'],
    ],
    ['generation', { generation: 1 }, old, ['metadata.generation: Invalid value: 1: must not be decremented']],
    [
      'finalizers while deleting',
      { finalizers: ['a/b', 'c/d'] },
      { ...old, deletionTimestamp: 't', finalizers: ['c/d'] },
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/b"}',
      ],
    ],
    [
      'a changed deletionTimestamp of an object that is being deleted',
      { deletionTimestamp: 'other' },
      { ...old, deletionTimestamp: 't' },
      [],
    ],
  ])('%s', (_name, given, before, want) => expect(lines(validateObjectMetaUpdate(given, before))).toEqual(want));
});
