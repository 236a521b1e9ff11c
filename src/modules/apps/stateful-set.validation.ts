import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../catalog/types/apps.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, notNegative, oneOf, required } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import { validateDnsLabel } from '../../machinery/names.js';
import { validateClaimSpec } from '../core/persistent-volume-claim.validation.js';
import { specAt, validateSelectedTemplate } from './workload.strategy.js';

export function validateStatefulSet(spec: StatefulSetSpec): FieldError[] {
  const { serviceName = '' } = spec;
  return [
    ...validateManagement(spec.podManagementPolicy ?? ''),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}),
    ...validateRetention(spec.persistentVolumeClaimRetentionPolicy ?? {}),
    ...notNegative(spec.replicas, specAt.child('replicas')),
    ...notNegative(spec.minReadySeconds, specAt.child('minReadySeconds')),
    ...notNegative(spec.ordinals?.start, specAt.child('ordinals', 'start')),
    ...validateSelectedTemplate(withClaims(spec), { kind: 'statefulset', isRequired: true, maker: 'StatefulSet' }),
    ...(serviceName === '' ? [] : checked(serviceName, specAt.child('serviceName'), validateDnsLabel)),
    ...each(spec.volumeClaimTemplates, specAt.child('volumeClaimTemplates'), (claim, at) =>
      validateClaimSpec(claim.spec ?? {}, at.child('spec')),
    ),
  ];
}

/** Adds a volume for each volumeClaimTemplate, as the Pods have them; it replaces a volume of the same name. */
function withClaims(spec: StatefulSetSpec): StatefulSetSpec {
  const claims = new Set((spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? ''));
  if (claims.size === 0) return spec;
  const { volumes = [], ...podSpec } = spec.template?.spec ?? {};
  const claimVolume = (claimName: string) => ({ name: claimName, persistentVolumeClaim: { claimName } });
  const names = new Set(volumes.map(({ name }) => name));
  const claimed = [
    ...volumes.map((volume) => (claims.has(volume.name ?? '') ? claimVolume(volume.name ?? '') : volume)),
    ...[...claims].filter((name) => !names.has(name)).map(claimVolume),
  ];
  return { ...spec, template: { ...spec.template, spec: { ...podSpec, volumes: claimed } } };
}

function validateManagement(policy: string): FieldError[] {
  const at = specAt.child('podManagementPolicy');
  if (policy === '') return required(policy, at);
  if (policy === 'OrderedReady' || policy === 'Parallel') return [];
  return [fieldError.invalid(at, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateUpdateStrategy({ type, rollingUpdate: update }: StatefulSetUpdateStrategy): FieldError[] {
  const at = specAt.child('updateStrategy');
  const shown = update ? { Partition: update.partition ?? 0, MaxUnavailable: update.maxUnavailable ?? null } : null;
  const updateAt = at.child('rollingUpdate');
  if (type === 'RollingUpdate') return update ? validateRollingUpdate(update, updateAt) : [];
  if (type === 'OnDelete') {
    if (!update) return [];
    return [fieldError.invalid(updateAt, shown, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  const message = "must be 'RollingUpdate' or 'OnDelete'";
  return [fieldError.invalid(at, { Type: type, RollingUpdate: shown }, message)];
}

function validateRollingUpdate(
  { partition, maxUnavailable }: RollingUpdateStatefulSetStrategy,
  at: FieldPath,
): FieldError[] {
  const errors = notNegative(partition, at.child('partition'));
  if (maxUnavailable === undefined) return errors;
  const unavailableAt = at.child('maxUnavailable');
  const problems = validateIntOrPercent(maxUnavailable, unavailableAt);
  if (problems.length === 0 && intOrPercent(maxUnavailable) === 0) {
    problems.push(fieldError.invalid(unavailableAt, maxUnavailable, 'cannot be 0'));
  }
  return [...errors, ...problems, ...atMostAll(maxUnavailable, unavailableAt)];
}

function validateRetention(retention: StatefulSetPersistentVolumeClaimRetentionPolicy): FieldError[] {
  const at = specAt.child('persistentVolumeClaimRetentionPolicy');
  const policies = ['Retain', 'Delete'];
  return [
    ...oneOf(retention.whenDeleted, at.child('whenDeleted'), policies),
    ...oneOf(retention.whenScaled, at.child('whenScaled'), policies),
  ];
}

const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** Refuses changes of all fields of the spec but `mutable`: the identity of the Pods depends on them. */
export function validateStatefulSetUpdate({ spec = {} }: StatefulSet, old: StatefulSet): FieldError[] {
  const errors = validateStatefulSet(spec);
  const immutableFields = (of: StatefulSetSpec) =>
    Object.fromEntries(Object.entries(of).filter(([field, value]) => !mutable.includes(field) && isSet(value)));
  if (!deepEqual(immutableFields(spec), immutableFields(old.spec ?? {}))) {
    const names = mutable.map((name) => `'${name}'`);
    const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
    errors.push(
      fieldError.forbidden(specAt, `updates to statefulset spec for fields other than ${list} are forbidden`),
    );
  }
  return errors;
}
