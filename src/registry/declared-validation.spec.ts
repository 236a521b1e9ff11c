import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { fieldError, type FieldError } from '../machinery/field-error.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { silentLogger } from '../std/logger.js';
import { DeclaredValidation } from './declared-validation.js';

/** A replication controller declares, as a trial, that replicas are not negative; a pod group, for good, how many there are. */
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

function settled(
  object: KubeObject,
  byHand: readonly FieldError[],
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
  const errors = validation.mergeErrors(type, object, undefined, byHand);
  validation.mergeErrors(type, object, undefined, byHand);
  return { errors, mismatches: validation.mismatches / 2, logged: lines.length };
}

it.each<[string, number, FieldError[], object, { errors: FieldError[]; mismatches: number; logged: number }]>([
  ['nothing is wrong', 1, [], {}, { errors: [], mismatches: 0, logged: 0 }],
  ['both find it', -1, [negative], {}, { errors: [negative], mismatches: 0, logged: 0 }],
  ['only the declared rule does', -1, [], {}, { errors: [], mismatches: 1, logged: 1 }],
  ['only the written rule does', 1, [negative], {}, { errors: [negative], mismatches: 1, logged: 1 }],
  ['what is not declared is no mismatch', 1, [other], {}, { errors: [other], mismatches: 0, logged: 0 }],
  ['with the gate off nothing is compared', -1, [], { isOn: false }, { errors: [], mismatches: 0, logged: 0 }],
  ['a rule on trial never takes over', -1, [], { takesOver: true }, { errors: [], mismatches: 1, logged: 1 }],
])('%s', (_, replicas, byHand, gates, want) => expect(settled(controller(replicas), byHand, gates)).toEqual(want));

it('believes what is written by hand of the items of an atomic list', () => {
  const { spec: _spec, ...claim } = controller(1);
  const twice = fieldError.duplicate('spec.devices.requests[1]', 'r');
  const validation = new DeclaredValidation({
    ...{ isOn: true, takesOver: false, isEnabled: () => true },
    ...{ ownResourcePrefix: 'kubernetes.io/', logger: silentLogger },
  });
  const claims = catalog.kind('resource.k8s.io', 'v1', 'ResourceClaim')!;
  expect(validation.mergeErrors(claims, { ...claim, kind: 'ResourceClaim' }, undefined, [twice])).toEqual([twice]);
});
