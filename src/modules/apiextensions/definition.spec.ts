import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { atOnce } from '../../std/steps.js';
import {
  prepared,
  prepareUpdate,
  refusals,
  testContext,
  texts,
  updateRefusals,
} from '../../../test/harness/strategies.js';
import { definitionStatusSubresource, definitionStrategy } from './definition.strategy.js';

const strategy = definitionStrategy(namingProfile('kubernetes'));
const errorsOf = (object: KubeObject, old: KubeObject) => atOnce(strategy.validateInSteps!(object, old, testContext));
const schema = { openAPIV3Schema: { type: 'object' } };
const v1 = { name: 'v1', served: true, storage: true, schema };
const v2 = { name: 'v2', served: true, storage: false, schema };
const names = { plural: 'mins', kind: 'Min' };
const spec = { group: 'g.example.com', scope: 'Namespaced', names, versions: [v1] };
const definition = (rest: object = {}, name = 'mins.g.example.com'): KubeObject => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name },
  spec: { ...spec, ...rest },
});
const containing = (them: readonly string[]) => them.map((text) => expect.stringContaining(text) as string);

it('create fills in singular and listKind, and accepts no names yet', () =>
  expect(prepared(strategy, definition({ preserveUnknownFields: false }))).toEqual({
    ...definition({ names: { ...names, singular: 'min', listKind: 'MinList' }, conversion: { strategy: 'None' } }),
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  }));

const version = (rest: object) => ({ versions: [{ ...v1, ...rest }] });
const column = (rest: object) =>
  version({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a', ...rest }] });
const scale = (rest: object) =>
  version({ subresources: { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', ...rest } } });
it.each<[string, object, string[]]>([
  ['all required fields', {}, []],
  [
    'a name that is not plural.group',
    { names: { plural: 'maxs', kind: 'Max' } },
    ['must be spec.names.plural+"."+spec.group'],
  ],
  ['no group', { group: '' }, ['metadata.name', 'spec.group: Required value']],
  ['a group without dot', { group: 'g' }, ['metadata.name', 'should be a domain with at least one dot']],
  ['no scope', { scope: undefined }, ['spec.scope: Required value']],
  ['an unknown scope', { scope: 'X' }, ['spec.scope: Unsupported value: "X"']],
  ['no kind', { names: { plural: 'mins' } }, ['names.singular: Req', 'names.kind: Req', 'names.listKind: Req']],
  ['the same kind and listKind', { names: { ...names, listKind: 'Min' } }, ['kind and listKind may not be the same']],
  ['invalid short names', { names: { ...names, shortNames: ['A_'] } }, ['names.shortNames[0]']],
  ['invalid categories', { names: { ...names, categories: ['A_'] } }, ['names.categories[0]']],
  ['no versions', { versions: [] }, ['exactly one version marked as storage', 'storedVersions: Invalid value: null']],
  [
    'an invalid version name',
    { versions: [{ ...v1, name: 'A_' }] },
    ['spec.versions[0].name', 'spec.version: Invalid'],
  ],
  [
    'no storage version',
    version({ storage: false }),
    ['[{"Name":"v1","Served":true,"Storage":false', 'at least one stored'],
  ],
  ['two storage versions', { versions: [v1, { ...v2, storage: true }] }, ['exactly one version', 'storage version v2']],
  ['a duplicate version', { versions: [v1, { ...v2, name: 'v1' }] }, ['must contain unique version names']],
  ['no schema', version({ schema: undefined }), ['spec.versions[0].schema.openAPIV3Schema: Required value']],
  ['preserveUnknownFields: true', { preserveUnknownFields: true }, ['cannot set to true']],
  [
    'a deprecationWarning of a version that is not deprecated',
    version({ deprecationWarning: 'x' }),
    ['can only be set for deprecated versions'],
  ],
  [
    'an empty deprecationWarning',
    version({ deprecated: true, deprecationWarning: '' }),
    ['must not be an empty string'],
  ],
  ['a column without a name', column({ name: '' }), ['spec.additionalPrinterColumns[0].name: Required value']],
  [
    'a column of an unknown type and format',
    column({ type: 'x', format: 'y' }),
    ['one of boolean,date,integer', 'one of byte,date,date-time'],
  ],
  [
    'a column whose JSON path has no leading dot',
    column({ jsonPath: 'a' }),
    ['JSONPath: Invalid value: "a": must be a simple json path'],
  ],
  [
    'no specReplicasPath',
    scale({ specReplicasPath: '' }),
    ['spec.subresources.scale.specReplicasPath: Required value'],
  ],
  ['a specReplicasPath outside of spec', scale({ specReplicasPath: '.x' }), ['should be a json path under .spec']],
  [
    'a labelSelectorPath outside of spec and status',
    scale({ labelSelectorPath: '.x' }),
    ['should be a json path under either .spec or .status'],
  ],
  [
    'a selectable field that the schema does not have',
    version({ selectableFields: [{ jsonPath: '.spec.x' }] }),
    ['does not refer to a valid field'],
  ],
  [
    'strategy Webhook and no webhook',
    { conversion: { strategy: 'Webhook' } },
    ['required when strategy is set to Webhook', 'conversionReviewV'],
  ],
  [
    'an unknown conversion strategy',
    { conversion: { strategy: 'X' } },
    ['conversion.strategy: Unsupported value: "X"'],
  ],
  [
    'a webhook and strategy None',
    { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } },
    ['conversionReviewVersions: Forbidden'],
  ],
])('validates a definition with %s', (_what, rest, want) =>
  expect(refusals(strategy, definition(rest))).toEqual(containing(want)),
);

it('errors of a schema that differs between versions name the version', () => {
  const odd = { openAPIV3Schema: { type: 'string' } };
  expect(refusals(strategy, definition({ versions: [{ ...v1, schema: odd }] }))).toEqual(
    containing(['spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root']),
  );
  expect(refusals(strategy, definition({ versions: [v1, { ...v2, schema: odd }] }))).toEqual(
    containing(['spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string"']),
  );
});

it.each<[string, string | undefined, string[]]>([
  ['x.k8s.io', undefined, ['protected groups must have approval annotation "api-approved.kubernetes.io"']],
  ['x.k8s.io', 'nonsense', ['with either a URL or a reason starting with "unapproved"']],
  ['x.k8s.io', 'unapproved, a test', []],
  ['x.kubernetes.io', 'https://example.com/pull/1', []],
  ['x.notk8s.io', undefined, []],
])('validates group %s with approval annotation %s', (group, approval, want) => {
  const object = definition({ group }, `mins.${group}`);
  if (approval !== undefined) object.metadata.annotations = { 'api-approved.kubernetes.io': approval };
  expect(refusals(strategy, object)).toEqual(containing(want));
});

const established = (object: KubeObject): KubeObject => ({
  ...object,
  status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] },
});

it.each<[string, object, string[]]>([
  ['group', { group: 'h.example.com' }, ['spec.group: Invalid value: "h.example.com": field is immutable']],
  ['plural', { names: { ...names, plural: 'others' } }, ['spec.names.plural: Invalid value: "others"']],
  ['scope', { scope: 'Cluster' }, ['spec.scope: Invalid value: "Cluster": field is immutable']],
  ['kind', { names: { ...names, kind: 'Other' } }, ['spec.names.kind: Invalid value: "Other": field is immutable']],
  ['singular', { names: { ...names, singular: 'minimum' } }, []],
  [
    'storage version',
    { versions: [{ ...v2, storage: true }] },
    ['status.storedVersions[0]: Invalid value: "v1": missing'],
  ],
  [
    'versions',
    {
      versions: [
        { ...v1, storage: false },
        { ...v2, storage: true },
      ],
    },
    [],
  ],
])('an update of %s of an established definition', (_what, change, want) => {
  const old = prepared(strategy, definition());
  const after = structuredClone(definition(change));
  strategy.default!(after);
  prepareUpdate(strategy, after, established(old));
  expect(texts(errorsOf(after, established(old)))).toEqual(containing(want));
});

it('scope and kind are mutable until the definition is established', () =>
  expect(updateRefusals(strategy, definition({ scope: 'Cluster' }), definition())).toEqual([]));

it('status.acceptedNames must be valid names', () => {
  const status = (plural: string) => ({ ...definition(), status: { acceptedNames: { plural, kind: 'Min' } } });
  const refused = (object: KubeObject) => texts(definitionStatusSubresource.validate!(object, object, testContext));
  expect(refused(status('mins'))).toEqual([]);
  expect(refused(status('A_'))).toEqual(containing(['status.acceptedNames.plural']));
});

it('unrecognized formats are warned of once', () => {
  const withFormat = (format: string, generation: number) => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', format } } } };
    const object = definition(version({ schema }));
    return { ...object, metadata: { ...object.metadata, generation } };
  };
  expect(strategy.warnings!(withFormat('x', 1), undefined)).toEqual(['unrecognized format "x"']);
  expect(strategy.warnings!(withFormat('x', 2), withFormat('y', 1))).toEqual(['unrecognized format "x"']);
  expect(strategy.warnings!(withFormat('x', 2), withFormat('x', 1))).toEqual([]);
  expect(strategy.warnings!(withFormat('x', 1), withFormat('x', 1))).toEqual([]);
  expect(strategy.warnings!(withFormat('date-time', 1), undefined)).toEqual([]);
});

describe('deletion of a definition', () => {
  const { deletion } = strategy;
  const finalizer = 'customresourcecleanup.apiextensions.k8s.io';
  const marked = (metadata: object, conditions: object[] = []): KubeObject => {
    const object: KubeObject = {
      ...definition(),
      metadata: { name: 'mins.g.example.com', generation: 3, ...metadata },
      status: { conditions, storedVersions: ['v1'] },
    };
    deletion!.prepareForDelete!(object, testContext);
    return object;
  };

  it('the definition is kept until it has a deletionTimestamp, and then by its finalizers', () => {
    expect(deletion!.holds!(definition())).toBe(true);
    expect(deletion!.holds!({ ...definition(), metadata: { name: 'm', deletionTimestamp: testContext.now } })).toBe(
      false,
    );
  });

  it('the definition gets the cleanup finalizer and a Terminating condition', () => {
    const object = marked({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/mine'] });
    expect(object.metadata).toEqual({
      name: 'mins.g.example.com',
      generation: 3,
      finalizers: ['example.com/mine', finalizer],
    });
    expect(object['status']).toEqual({
      conditions: [
        {
          type: 'Terminating',
          status: 'True',
          lastTransitionTime: testContext.now,
          reason: 'InstanceDeletionPending',
          message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
        },
      ],
      storedVersions: ['v1'],
    });
  });

  it('the cleanup finalizer is not added twice', () =>
    expect(marked({ finalizers: [finalizer] }).metadata.finalizers).toEqual([finalizer]));
});

it('a missing storage version is added to status.storedVersions', () => {
  const object = { ...definition(), status: { storedVersions: [] } };
  strategy.default!(object);
  expect(object.status.storedVersions).toEqual(['v1']);
});

const webhook = (client: object, conversionReviewVersions: string[] = ['v1']) => ({
  conversion: {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: 'https://c.example.com', ...client }, conversionReviewVersions },
  },
});
const odd = { caBundle: 'bm90aGluZw==' };
it.each<[string, object, object, boolean, string[]]>([
  ['an invalid caBundle, not yet established', webhook({}), webhook(odd), false, []],
  ['an invalid caBundle, established', webhook({}), webhook(odd), true, ['webhookClientConfig.caBundle: Inv']],
  ['a caBundle that was invalid before', webhook(odd), webhook(odd), true, []],
  [
    'unknown conversionReviewVersions',
    webhook({}),
    webhook({}, ['v9']),
    true,
    ['must include at least one of v1, v1beta1'],
  ],
  ['conversionReviewVersions that were unknown before', webhook({}, ['v8']), webhook({}, ['v9']), true, []],
  ['a conversion without strategy', {}, { conversion: {} }, true, ['spec.conversion.strategy: Required value']],
])('an update to %s', (_what, before, after, isServed, want) => {
  const old = prepared(strategy, definition(before));
  const was = isServed ? established(old) : old;
  const object = definition(after);
  strategy.default!(object);
  prepareUpdate(strategy, object, was);
  expect(texts(errorsOf(object, was))).toEqual(containing(want));
});

describe('bounds on definitions', () => {
  const patterned = (count: number) => {
    const properties = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`p${n}`, { type: 'string', pattern: `^(a|b|${n})+$` }]),
    );
    return version({ schema: { openAPIV3Schema: { type: 'object', properties } } });
  };
  const tooMany = 'spec.versions: Forbidden: schema has too many patterns, or patterns that are too large';

  it('thousands of distinct patterns are refused on create and on update', () => {
    expect(refusals(strategy, definition(patterned(500)))).toEqual([]);
    expect(refusals(strategy, definition(patterned(3000)))).toEqual([tooMany]);
    expect(updateRefusals(strategy, definition(patterned(3000)), definition())).toEqual([tooMany]);
  });

  it('a stored definition with thousands of patterns can be updated', () => {
    const old = definition(patterned(2000));
    expect(updateRefusals(strategy, definition(patterned(2001)), old)).toEqual([]);
  });

  it('an update that leaves the spec unchanged does not validate it', () => {
    const broken = version({ schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } });
    const old = definition(broken);
    const labelled = { ...definition(broken), metadata: { ...old.metadata, labels: { a: 'b' } } };
    expect(updateRefusals(strategy, labelled, old)).toEqual([]);
    const changed = definition({ ...broken, conversion: { strategy: 'X' } });
    expect(updateRefusals(strategy, changed, old)).toEqual(
      containing(['spec.validation.openAPIV3Schema.properties[a].type: Required value', 'conversion.strategy']),
    );
  });
});
