import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';
import { declarativeErrors, type DeclarativeOptions } from './declarative.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const text: FieldType = { form: 'scalar', scalar: 'string', goName: 'string', enumValues: undefined };
const letter: FieldType = { ...text, goName: 'v1.Letter', enumValues: ['A', 'B'] };
const int: FieldType = { form: 'scalar', scalar: 'int32', goName: 'int32', enumValues: undefined };
const listOf = (of: FieldType): FieldType => ({ form: 'list', of, goName: `[]${of.goName}`, isMessage: false });
const mapOf = (of: FieldType): FieldType => ({ form: 'map', of, goName: `map[string]${of.goName}` });

/** `name` is a value, `name*` a pointer. */
function struct(fields: Readonly<Record<string, [FieldType, ...string[]]>>): StructType {
  const made = Object.entries(fields).map(([key, [type, ...rules]]): Field => {
    const list = rules.some((rule) => rule.includes('Type=map')) ? { type: 'map' as const, keys: ['name'] } : undefined;
    return {
      name: key.replace('*', ''),
      type,
      isInline: false,
      isPointer: key.endsWith('*'),
      omitsEmpty: true,
      presence: undefined,
      default: undefined,
      list,
      isAtomic: false,
      isGranular: false,
      patch: undefined,
      number: 0,
      gates: [],
      rules,
    };
  });
  const name = 'test.v1.Thing';
  return {
    form: 'struct',
    name,
    goName: 'v1.Thing',
    modelName: name,
    fields: made,
    byName: new Map(made.map((field) => [field.name, field])),
    isAtomic: false,
    unions: [],
  };
}

const options: DeclarativeOptions = {
  stability: 'stable',
  isEnabled: (gate) => gate === 'On',
  ownResourcePrefix: 'kubernetes.io/',
};
const errors = (type: StructType, object: JsonObject, more: Partial<DeclarativeOptions> = {}) =>
  declarativeErrors(object, type, { ...options, ...more }).map(({ field, detail }) => `${field}: ${detail}`);

describe('rules of one field', () => {
  it.each<[string, FieldType, string[], JsonObject, string[]]>([
    ['f', text, ['required'], {}, ['f: Required value']],
    ['f', text, ['required'], { f: '' }, ['f: Required value']],
    ['f*', text, ['required'], { f: '' }, []],
    ['f', listOf(text), ['required'], { f: [] }, ['f: Required value']],
    ['f', mapOf(text), ['required'], { f: {} }, ['f: Required value']],
    ['f', text, ['required', 'format=k8s-short-name'], {}, ['f: Required value']],
    ['f', text, ['optional', 'format=k8s-uuid'], {}, []],
    ['f', text, ['format=k8s-uuid'], {}, ['f: Invalid value: "": must be a lowercase UUID in 8-4-4-4-12 format']],
    ['f*', text, ['format=k8s-uuid'], {}, []],
    ['f', text, ['forbidden'], { f: 'a' }, ['f: Forbidden']],
    ['f', text, ['forbidden'], { f: '' }, []],
    ['f', int, ['minimum=1'], {}, ['f: Invalid value: 0: must be greater than or equal to 1']],
    ['f*', int, ['minimum=1'], {}, []],
    ['f*', int, ['minimum=-1', 'maximum=4'], { f: 5 }, ['f: Invalid value: 5: must be less than or equal to 4']],
    ['f', text, ['maxLength=2'], { f: 'äöü' }, ['f: Too long: may not be more than 2 characters']],
    ['f', text, ['maxLength=3'], { f: 'äöü' }, []],
    ['f', text, ['maxBytes=1'], { f: 'ä' }, ['f: Too long: may not be more than 1 byte']],
    ['f', listOf(text), ['maxItems=1'], { f: ['a', 'b'] }, ['f: Too many: 2: must have at most 1 item']],
    ['f', letter, ['enum'], { f: 'C' }, ['f: Unsupported value: "C": supported values: "A", "B"']],
    ['f', listOf(text), ['listType=set'], { f: ['a', 'a'] }, ['f[1]: Duplicate value: "a"']],
    ['f', listOf(text), ['unique=set'], { f: ['a', 'a'] }, ['f[1]: Duplicate value: "a"']],
    ['f', listOf(text), ['listType=atomic'], { f: ['a', 'a'] }, []],
    ['f', listOf(text), ['listType=set', 'customUnique'], { f: ['a', 'a'] }, []],
    [
      'f',
      listOf(letter),
      ['eachVal=+k8s:enum'],
      { f: ['A', 'C'] },
      ['f[1]: Unsupported value: "C": supported values: "A", "B"'],
    ],
    [
      'f',
      mapOf(int),
      ['eachVal=+k8s:maximum=1'],
      { f: { a: 2 } },
      ['f[a]: Invalid value: 2: must be less than or equal to 1'],
    ],
    [
      'f',
      mapOf(int),
      ['eachKey=+k8s:maxLength=1'],
      { f: { ab: 2 } },
      ['f: Too long: may not be more than 1 character'],
    ],
    ['f', text, ['ifEnabled(On)=+k8s:forbidden'], { f: 'a' }, ['f: Forbidden']],
    ['f', text, ['ifEnabled(Off)=+k8s:forbidden'], { f: 'a' }, []],
    ['f', text, ['ifDisabled("Off")=+k8s:forbidden'], { f: 'a' }, ['f: Forbidden']],
    [
      'f',
      struct({ g: [int] }),
      ['subfield(g)=+k8s:minimum=2'],
      { f: { g: 1 } },
      ['f.g: Invalid value: 1: must be greater than or equal to 2'],
    ],
    ['f', struct({ g: [text] }), ['subfield(g)=+k8s:required'], { f: {} }, ['f.g: Required value']],
    [
      'f',
      listOf(struct({ name: [text], n: [int, 'maximum=1'] })),
      ['listType=map', 'listMapKey=name'],
      { f: [{ name: 'a' }, { name: 'a', n: 2 }] },
      ['f[1]: Duplicate value: {"name":"a","n":2}', 'f[1].n: Invalid value: 2: must be less than or equal to 1'],
    ],
    [
      'f',
      listOf(struct({ name: [text], n: [int] })),
      ['item(name: "a")=+k8s:forbidden', 'optional'],
      { f: [{ name: 'b' }] },
      [],
    ],
    ['f', text, ['immutable', 'update=NoModify'], { f: 'a' }, []],
  ])('field %s of type %j with rules %j validates %j', (name, type, rules, object, want) =>
    expect(errors(struct({ [name]: [type, ...rules] }), object)).toEqual(want),
  );
});

describe('ratcheting', () => {
  const items = listOf(struct({ name: [text], n: [int, 'maximum=1'] }));
  it.each<[string, FieldType, string[], JsonObject, JsonObject, string[]]>([
    ['f', text, ['immutable'], { f: 'a' }, { f: 'a' }, []],
    ['f', text, ['immutable'], { f: 'a' }, { f: 'b' }, ['f: Invalid value: null: field is immutable']],
    ['f', text, ['immutable'], {}, { f: 'b' }, ['f: Invalid value: null: field is immutable']],
    ['f', text, ['update=NoSet'], {}, { f: 'a' }, ['f: Invalid value: null: field cannot be set once created']],
    ['f', text, ['update=NoSet'], { f: 'a' }, { f: 'b' }, []],
    ['f', text, ['update=NoUnset'], { f: 'a' }, {}, ['f: Invalid value: null: field cannot be cleared once set']],
    [
      'f',
      text,
      ['update=NoModify'],
      { f: 'a' },
      { f: 'b' },
      ['f: Invalid value: null: field cannot be modified once set'],
    ],
    ['f', text, ['update=NoModify'], { f: 'a' }, {}, []],
    // An unchanged invalid value is accepted.
    ['f', text, ['maxBytes=1'], { f: 'aa' }, { f: 'aa' }, []],
    [
      'f',
      items,
      ['listType=map', 'listMapKey=name'],
      { f: [{ name: 'a', n: 5 }] },
      { f: [{ name: 'b' }, { name: 'a', n: 5 }] },
      [],
    ],
    [
      'f',
      items,
      ['listType=map', 'listMapKey=name'],
      { f: [{ name: 'a', n: 5 }] },
      { f: [{ name: 'a', n: 6 }] },
      ['f[0].n: Invalid value: 6: must be less than or equal to 1'],
    ],
    [
      'f',
      items,
      [],
      { f: [{ name: 'a', n: 5 }] },
      { f: [{ name: 'a', n: 5 }, {}] },
      ['f[0].n: Invalid value: 5: must be less than or equal to 1'],
    ],
    ['f', mapOf(int), ['eachKey=+k8s:maxLength=1'], { f: { ab: 1 } }, { f: { ab: 2 } }, []],
  ])('field %s of type %j with rules %j: update of %j to %j', (name, type, rules, old, object, want) =>
    expect(errors(struct({ [name]: [type, ...rules] }), object, { old })).toEqual(want),
  );
});

describe('unions', () => {
  const exact = struct({ 'a*': [int, 'optional', 'unionMember'], 'b*': [text, 'optional', 'unionMember'] });
  const some = struct({ 'a*': [int, 'zeroOrOneOfMember'], 'b*': [text, 'zeroOrOneOfMember'] });
  const told = struct({
    kind: [text, 'unionDiscriminator'],
    'a*': [int, 'unionMember'],
    'b*': [text, 'unionMember(memberName: "Bee")'],
  });
  const modal = struct({
    kind: [text, 'discriminator'],
    'a*': [int, 'optional', 'member("A")=+k8s:required', 'member("B")=+k8s:forbidden'],
  });
  const listed = struct({
    list: [
      listOf(struct({ type: [text] })),
      'item(type: "Yes")=+k8s:zeroOrOneOfMember',
      'item(type: "No")=+k8s:zeroOrOneOfMember',
    ],
  });
  it.each<[StructType, JsonObject, JsonObject | undefined, string[]]>([
    [exact, { a: 0 }, undefined, []],
    [exact, {}, undefined, ['at: Invalid value: "": must specify one of: `a`, `b`']],
    [exact, { a: 1, b: '' }, undefined, ['at: Invalid value: "{a, b}": must specify exactly one of: `a`, `b`']],
    [exact, { a: 1, b: 'x' }, { a: 2, b: 'y' }, []],
    [exact, { a: 1, b: 'x' }, { a: 1 }, ['at: Invalid value: "{a, b}": must specify exactly one of: `a`, `b`']],
    [some, {}, undefined, []],
    [some, { a: 1, b: '' }, undefined, ['at: Invalid value: "{a, b}": must specify at most one of: `a`, `b`']],
    [told, { kind: 'A', a: 1 }, undefined, []],
    [
      told,
      { kind: 'Bee', a: 1 },
      undefined,
      [
        'at.a: Invalid value: "": may only be specified when `kind` is "A"',
        'at.b: Invalid value: "": must be specified when `kind` is "Bee"',
      ],
    ],
    [told, { kind: 'C' }, undefined, []],
    [modal, { kind: 'A' }, undefined, ['at.a: Required value']],
    [modal, { kind: 'B', a: 1 }, undefined, ['at.a: Forbidden']],
    [modal, { kind: 'B', a: 1 }, { kind: 'B', a: 1 }, []],
    [modal, { kind: 'C', a: 1 }, undefined, []],
    [listed, { list: [{ type: 'Yes' }, { type: 'Yes' }] }, undefined, []],
    [
      listed,
      { list: [{ type: 'Yes' }, { type: 'No' }] },
      undefined,
      [
        'at: Invalid value: "{list[{\\"type\\": \\"Yes\\"}], list[{\\"type\\": \\"No\\"}]}": ' +
          'must specify at most one of: `list[{"type": "Yes"}]`, `list[{"type": "No"}]`',
      ],
    ],
  ])('row %#: %j', (type, object, old, want) => expect(errors(type, object, { old, at: 'at' })).toEqual(want));
});

describe('alpha and beta rules', () => {
  const type = struct({
    a: [text, 'alpha(since: "1.36")=+k8s:required'],
    b: [text, 'beta=+k8s:required'],
    c: [text, 'required'],
  });
  it.each([
    ['stable', ['c']],
    ['beta', ['b', 'c']],
    ['alpha', ['a', 'b', 'c']],
  ] as const)('rules up to %s find %j', (stability, want) =>
    expect(declarativeErrors({}, type, { ...options, stability }).map(({ field }) => field)).toEqual(want),
  );

  it('errors name the rule as their origin', () => {
    const [error] = declarativeErrors({ a: 'ab' }, struct({ a: [text, 'alpha=+k8s:maxLength=1'] }), {
      ...options,
      stability: 'alpha',
    });
    expect(error).toMatchObject({ type: 'FieldValueTooLong', origin: 'maxLength', stability: 'alpha' });
  });
});

describe('built-in types', () => {
  it('all their rules are supported', () => {
    for (const { group, version, kind } of catalog.kinds().values()) {
      const type = catalog.kind(group, version, kind)!;
      for (const struct of structsIn(type, new Set())) {
        for (const old of [undefined, {}]) {
          expect(() => declarativeErrors({}, struct, { ...options, stability: 'alpha', old })).not.toThrow();
        }
      }
    }
  });

  it.each<[string, JsonObject, JsonObject | undefined, DeclarativeOptions['stability'], string[]]>([
    [
      'scheduling.v1alpha2.PodGroup',
      {
        spec: {
          schedulingPolicy: {},
          resourceClaims: [{ name: 'A', resourceClaimName: 'x' }, { name: 'A' }],
          priority: 5,
        },
      },
      undefined,
      'stable',
      [
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
        'spec.resourceClaims[1]: Duplicate value: {"name":"A"}',
        "spec.resourceClaims[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        'spec.resourceClaims[1]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
        "spec.resourceClaims[1].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        'spec.priority: Forbidden',
      ],
    ],
    ['autoscaling.v2.HorizontalPodAutoscaler', { spec: { minReplicas: 0 } }, undefined, 'stable', []],
    [
      'autoscaling.v2.HorizontalPodAutoscaler',
      { spec: { minReplicas: 0, maxReplicas: 1 } },
      undefined,
      'alpha',
      ['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1'],
    ],
    [
      'flowcontrol.v1.PriorityLevelConfiguration',
      { spec: { type: 'Limited' } },
      undefined,
      'alpha',
      ['spec.limited: Required value'],
    ],
    [
      'certificates.v1.CertificateSigningRequest',
      { status: { conditions: [{ type: 'Approved' }, { type: 'Approved' }] } },
      undefined,
      'alpha',
      [],
    ],
    ['core.v1.Pod', { spec: {} }, { spec: { x: 1 } }, 'stable', []],
  ])('%s with %j', (name, object, old, stability, want) =>
    expect(errors(catalog.struct(name), object, { old, stability })).toEqual(want),
  );
});

function structsIn(type: FieldType, seen: Set<StructType>): Set<StructType> {
  if (type.form === 'list' || type.form === 'map') return structsIn(type.of, seen);
  if (type.form !== 'struct' || seen.has(type)) return seen;
  seen.add(type);
  for (const field of type.byName.values()) structsIn(field.type, seen);
  return seen;
}
