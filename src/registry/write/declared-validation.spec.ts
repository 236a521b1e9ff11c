import { Catalog } from '../../catalog/catalog.js';
import { namingProfile } from '../../config/naming-profile.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { silentLogger } from '../../std/logger.js';
import { DeclaredValidation } from './declared-validation.js';

/** ReplicationController declares a minimum of 0 replicas as an alpha rule. */
const catalog = new Catalog(namingProfile('kubernetes'));
const type = catalog.kind('', 'v1', 'ReplicationController')!;
const controller = (replicas: number): KubeObject => ({
  kind: 'ReplicationController',
  apiVersion: 'v1',
  metadata: { name: 'a' },
  spec: { replicas },
});
const negative = fieldError.invalid('spec.replicas', -1, 'must be greater than or equal to 0');
const other = fieldError.required('spec.template');

function validated(
  object: KubeObject,
  handwritten: readonly FieldError[],
  gates: { isOn?: boolean; takesOver?: boolean } = {},
) {
  const lines: unknown[] = [];
  const validation = new DeclaredValidation({
    isOn: true,
    takesOver: false,
    isEnabled: () => true,
    ownResourcePrefix: 'kubernetes.io/',
    logger: { ...silentLogger, warn: (_text, more) => lines.push(more) },
    ...gates,
  });
  const errors = validation.mergeErrors(type, object, undefined, handwritten);
  validation.mergeErrors(type, object, undefined, handwritten);
  return { errors, mismatches: validation.mismatches / 2, logged: lines.length };
}

it.each<[string, number, FieldError[], object, { errors: FieldError[]; mismatches: number; logged: number }]>([
  ['a valid object has no errors', 1, [], {}, { errors: [], mismatches: 0, logged: 0 }],
  ['an error of both rules is returned once', -1, [negative], {}, { errors: [negative], mismatches: 0, logged: 0 }],
  ['an error of the declared rule alone is logged, not returned', -1, [], {}, { errors: [], mismatches: 1, logged: 1 }],
  [
    'an error of the handwritten rule alone is returned and logged',
    1,
    [negative],
    {},
    { errors: [negative], mismatches: 1, logged: 1 },
  ],
  [
    'a handwritten error without a declared rule is no mismatch',
    1,
    [other],
    {},
    { errors: [other], mismatches: 0, logged: 0 },
  ],
  ['nothing is compared if the gate is off', -1, [], { isOn: false }, { errors: [], mismatches: 0, logged: 0 }],
  [
    'an alpha rule does not replace the handwritten one under DeclarativeValidationTakeover',
    -1,
    [],
    { takesOver: true },
    { errors: [], mismatches: 1, logged: 1 },
  ],
])('%s', (_, replicas, handwritten, gates, want) =>
  expect(validated(controller(replicas), handwritten, gates)).toEqual(want),
);

it('keeps handwritten errors of duplicate items in an atomic list', () => {
  const { spec: _spec, ...claim } = controller(1);
  const twice = fieldError.duplicate('spec.devices.requests[1]', 'r');
  const validation = new DeclaredValidation({
    ...{ isOn: true, takesOver: false, isEnabled: () => true },
    ...{ ownResourcePrefix: 'kubernetes.io/', logger: silentLogger },
  });
  const claims = catalog.kind('resource.k8s.io', 'v1', 'ResourceClaim')!;
  expect(validation.mergeErrors(claims, { ...claim, kind: 'ResourceClaim' }, undefined, [twice])).toEqual([twice]);
});

it('an invalid value of an immutable field is no mismatch with the rule that it is immutable', () => {
  const storageClasses = catalog.kind('storage.k8s.io', 'v1', 'StorageClass')!;
  const storageClass = { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', metadata: { name: 'a' } };
  const invalid = fieldError.invalid('provisioner', 'a'.repeat(64), 'name part must be no more than 63 bytes');
  const validation = new DeclaredValidation({
    ...{ isOn: true, takesOver: false, isEnabled: () => true },
    ...{ ownResourcePrefix: 'kubernetes.io/', logger: silentLogger },
  });
  const submitted = { ...storageClass, provisioner: 'a'.repeat(64) } as KubeObject;
  expect(validation.mergeErrors(storageClasses, submitted, undefined, [invalid])).toEqual([invalid]);
  expect(validation.mismatches).toBe(0);
});

it('logs values of a mismatch up to 300 characters', () => {
  const logged: object[] = [];
  const validation = new DeclaredValidation({
    ...{ isOn: true, takesOver: false, isEnabled: () => true, ownResourcePrefix: 'kubernetes.io/' },
    logger: { ...silentLogger, warn: (_text, more) => void logged.push(more!) },
  });
  const long = fieldError.invalid('spec.replicas', 'x'.repeat(1_000_000), 'must be greater than or equal to 0');
  validation.mergeErrors(type, controller(1), undefined, [long]);
  expect(logged).toEqual([expect.objectContaining({ detail: `Invalid value: "${'x'.repeat(284)}…` })]);
});
