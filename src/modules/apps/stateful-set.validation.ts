import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, notNegative, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateDnsLabel } from '../../machinery/names.js';
import { validateClaimSpec } from '../core/persistent-volume-claim.validation.js';
import { specAt, validateSelectedTemplate } from './workload.strategy.js';

export function validateStatefulSet(spec: Fields): FieldError[] {
  const serviceName = asText(spec['serviceName']);
  return [
    ...validateManagement(asText(spec['podManagementPolicy'])),
    ...validateUpdateStrategy(asFields(spec['updateStrategy'])),
    ...validateRetention(asFields(spec['persistentVolumeClaimRetentionPolicy'])),
    ...notNegative(spec['replicas'], specAt.child('replicas')),
    ...notNegative(spec['minReadySeconds'], specAt.child('minReadySeconds')),
    ...notNegative(asFields(spec['ordinals'])['start'], specAt.child('ordinals', 'start')),
    ...validateSelectedTemplate(withClaims(spec), { kind: 'statefulset', isRequired: true, maker: 'StatefulSet' }),
    ...(serviceName === '' ? [] : checked(serviceName, specAt.child('serviceName'), validateDnsLabel)),
    ...each(spec['volumeClaimTemplates'], specAt.child('volumeClaimTemplates'), (claim, at) =>
      validateClaimSpec(asFields(claim['spec']), at.child('spec')),
    ),
  ];
}

/** The set with a volume for each of its claims, as its pods have them: one that they share the name with gives way. */
function withClaims(spec: Fields): Fields {
  const templates = asItems(spec['volumeClaimTemplates']);
  const claims = new Set(templates.map(({ metadata }) => asText(asFields(metadata)['name'])));
  if (claims.size === 0) return spec;
  const template = asFields(spec['template']);
  const podSpec = asFields(template['spec']);
  const claimed = (claimName: string) => ({ name: claimName, persistentVolumeClaim: { claimName } });
  const given = asItems(podSpec['volumes']);
  const volumes = given.map((volume) => {
    const name = asText(volume['name']);
    return claims.has(name) ? claimed(name) : volume;
  });
  const names = new Set(given.map((volume) => volume['name']));
  for (const name of claims) if (!names.has(name)) volumes.push(claimed(name));
  return { ...spec, template: { ...template, spec: { ...podSpec, volumes } } };
}

function validateManagement(policy: string): FieldError[] {
  const at = specAt.child('podManagementPolicy');
  if (policy === '') return required(policy, at);
  if (policy === 'OrderedReady' || policy === 'Parallel') return [];
  return [fieldError.invalid(String(at), policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateUpdateStrategy(strategy: Fields): FieldError[] {
  const at = specAt.child('updateStrategy');
  const { type, rollingUpdate } = strategy;
  const update = asFields(rollingUpdate);
  const shown = isSet(rollingUpdate)
    ? { Partition: update['partition'] ?? 0, MaxUnavailable: update['maxUnavailable'] ?? null }
    : null;
  const updateAt = at.child('rollingUpdate');
  if (type === 'RollingUpdate') return isSet(rollingUpdate) ? validateRollingUpdate(update, updateAt) : [];
  if (type === 'OnDelete') {
    if (!isSet(rollingUpdate)) return [];
    return [fieldError.invalid(String(updateAt), shown, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  const message = "must be 'RollingUpdate' or 'OnDelete'";
  return [fieldError.invalid(String(at), { Type: type, RollingUpdate: shown }, message)];
}

function validateRollingUpdate({ partition, maxUnavailable }: Fields, at: FieldPath): FieldError[] {
  const errors = notNegative(partition, at.child('partition'));
  if (!isSet(maxUnavailable)) return errors;
  const unavailableAt = at.child('maxUnavailable');
  const problems = validateIntOrPercent(maxUnavailable, unavailableAt);
  if (problems.length === 0 && intOrPercent(maxUnavailable) === 0) {
    problems.push(fieldError.invalid(String(unavailableAt), maxUnavailable, 'cannot be 0'));
  }
  return [...errors, ...problems, ...atMostAll(maxUnavailable, unavailableAt)];
}

function validateRetention(retention: Fields): FieldError[] {
  const at = specAt.child('persistentVolumeClaimRetentionPolicy');
  return ['whenDeleted', 'whenScaled'].flatMap((when) => oneOf(retention[when], at.child(when), ['Retain', 'Delete']));
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

/** Pods that have an identity keep it: most of what makes them stays as it is. */
export function validateStatefulSetUpdate(set: KubeObject, old: KubeObject): FieldError[] {
  const spec = asFields(set['spec']);
  const before = asFields(old['spec']);
  const errors = validateStatefulSet(spec);
  const fixed = (it: Fields) =>
    Object.fromEntries(Object.entries(it).filter(([field, value]) => !mutable.includes(field) && isSet(value)));
  if (!deepEqual(fixed(spec), fixed(before))) {
    const names = mutable.map((name) => `'${name}'`);
    const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
    errors.push(
      fieldError.forbidden(String(specAt), `updates to statefulset spec for fields other than ${list} are forbidden`),
    );
  }
  return errors;
}
