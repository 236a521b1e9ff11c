import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asText, isSet, type Fields } from '../../machinery/fields.js';
import { goStruct } from '../../machinery/go-value.js';
import { immutable } from '../../machinery/immutable.js';
import { jsonDiff } from '../../machinery/json-diff.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateDnsSubdomain } from '../../machinery/names.js';
import { validateAccessModes, volumeModes } from './access-modes.validation.js';
import { validateAmount, validatePositiveAmount } from './amounts.validation.js';
import { claimShape } from './go-shapes.js';
import { compareAmounts } from './pod/pod-resources.js';
import { validateLabelSelectorObject } from './selector.validation.js';

/** Also for the templates of claims that pods and stateful sets carry. */
export function validateClaimSpec(spec: Fields, at: FieldPath): FieldError[] {
  return [
    ...validateAccessModes(spec['accessModes'], at.child('accessModes'), 'at least 1 access mode is required'),
    ...validateLabelSelectorObject(spec['selector'], at.child('selector')),
    ...validateStorage(spec, at.child('resources').key('storage')),
    ...validateClass(spec, 'storageClassName', at),
    ...validateClass(spec, 'volumeAttributesClassName', at),
    ...oneOf(spec['volumeMode'], at.child('volumeMode'), volumeModes),
    ...validateSources(spec, at),
  ];
}

function validateStorage(spec: Fields, at: FieldPath): FieldError[] {
  const { storage } = asFields(asFields(spec['resources'])['requests']);
  return isSet(storage) ? validatePositiveAmount(storage, at) : required(storage, at);
}

function validateClass(spec: Fields, field: string, at: FieldPath): FieldError[] {
  const name = asText(spec[field]);
  return name === '' ? [] : checked(name, at.child(field), validateDnsSubdomain);
}

function validateSources(spec: Fields, at: FieldPath): FieldError[] {
  const sources = ['dataSource', 'dataSourceRef'].filter((field) => isSet(spec[field]));
  const errors = sources.flatMap((field) => validateSource(asFields(spec[field]), at.child(field)));
  const what = ({ apiGroup, kind, name }: Fields) => [apiGroup ?? '', kind, name];
  const isSame = () => deepEqual(what(asFields(spec['dataSource'])), what(asFields(spec['dataSourceRef'])));
  if (sources.length === 2 && !isSame()) {
    errors.push(fieldError.invalid(String(at), {}, 'must match dataSourceRef'));
  }
  return errors;
}

function validateSource(source: Fields, at: FieldPath): FieldError[] {
  const group = asText(source['apiGroup']);
  const kind = asText(source['kind']);
  const errors = [...required(asText(source['name']), at.child('name')), ...required(kind, at.child('kind'))];
  if (group !== '') return [...errors, ...checked(group, at.child('apiGroup'), validateDnsSubdomain)];
  if (kind !== 'PersistentVolumeClaim') {
    const message = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(fieldError.invalid(String(at), kind, message));
  }
  return errors;
}

const at = path('spec');

export function validateClaim(claim: KubeObject): FieldError[] {
  return validateClaimSpec(asFields(claim['spec']), at);
}

/**
 * A claim is fixed, so that quotas and limits hold: but it is given its volume, and its class when it had none, once;
 * and what is bound may grow.
 */
export function claimUpdateRule(classAnnotation: string) {
  return (claim: KubeObject, old: KubeObject): FieldError[] => {
    const spec = asFields(claim['spec']);
    const before = asFields(old['spec']);
    const expected: Fields = { ...before };
    const compared: Fields = { ...spec };
    if (asText(before['volumeName']) === '') expected['volumeName'] = spec['volumeName'];
    if (!isSet(before['storageClassName']) && mayTakeClass(claim, old)) {
      expected['storageClassName'] = spec['storageClassName'];
    }
    if (asFields(claim['status'])['phase'] === 'Bound') {
      compared['resources'] = withStorageOf(spec, before);
      expected['volumeAttributesClassName'] = spec['volumeAttributesClassName'];
    }
    const errors = validateClaim(claim);
    const annotation = claim.metadata.annotations?.[classAnnotation] ?? '';
    // Quotas count by this class, which may only give way to the same one in the spec.
    if (annotation !== (old.metadata.annotations?.[classAnnotation] ?? '') && !takesClassOfAnnotation(claim, old)) {
      errors.push(fieldError.invalid(`metadata.annotations.${classAnnotation}`, annotation, 'field is immutable'));
    }
    const normal = (it: Fields) => Object.fromEntries(Object.entries(it).filter(([, value]) => isSet(value)));
    if (!deepEqual(normal(compared), normal(expected))) {
      const message =
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
      const changes = jsonDiff(goStruct(expected, claimShape), goStruct(compared, claimShape));
      errors.push(fieldError.forbidden(String(at), `${message}\n${changes}`));
    }
    return [
      ...errors,
      ...validateShrinking(spec, before, asFields(old['status'])),
      ...immutable(spec['volumeMode'], before['volumeMode'], path('volumeMode')),
      ...validateAttributesClassKept(spec, before, asFields(old['status'])),
    ];
  };

  function takesClassOfAnnotation(claim: KubeObject, old: KubeObject): boolean {
    const given = old.metadata.annotations?.[classAnnotation];
    const annotation = claim.metadata.annotations?.[classAnnotation] ?? given;
    const wanted = asFields(claim['spec'])['storageClassName'];
    return (
      given !== undefined &&
      annotation === given &&
      !isSet(asFields(old['spec'])['storageClassName']) &&
      wanted === given
    );
  }

  function mayTakeClass(claim: KubeObject, old: KubeObject): boolean {
    const given = old.metadata.annotations?.[classAnnotation];
    return given === undefined || given === asFields(claim['spec'])['storageClassName'];
  }
}

function withStorageOf(spec: Fields, before: Fields): Fields {
  const resources = asFields(spec['resources']);
  const { storage } = asFields(asFields(before['resources'])['requests']);
  return { ...resources, requests: { ...asFields(resources['requests']), storage } };
}

/** A volume that has been given a VolumeAttributesClass may take another one, and not go back to none. */
function validateAttributesClassKept(spec: Fields, before: Fields, status: Fields): FieldError[] {
  const { volumeAttributesClassName: wanted } = spec;
  if (!isSet(status['currentVolumeAttributesClassName']) || asText(wanted) !== '') return [];
  if (wanted === before['volumeAttributesClassName']) return [];
  const to = isSet(wanted) ? 'empty string' : 'nil';
  const message = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [fieldError.forbidden(String(at.child('volumeAttributesClassName')), message)];
}

/** A growth that failed may be taken back, but never below what there is. */
function validateShrinking(spec: Fields, before: Fields, status: Fields): FieldError[] {
  const sizeOf = (it: Fields) => asFields(asFields(it['resources'])['requests'])['storage'];
  const there = asFields(status['capacity'])['storage'];
  const isLess = compareAmounts(sizeOf(spec), sizeOf(before)) < 0 && compareAmounts(sizeOf(spec), there) <= 0;
  if (!isLess || !isSet(there)) return [];
  const where = at.child('resources', 'requests', 'storage');
  return [fieldError.forbidden(String(where), 'field can not be less than status.capacity')];
}

export function validateClaimStatus(claim: KubeObject): FieldError[] {
  const capacity = asFields(asFields(claim['status'])['capacity']);
  const capacityAt = path('status').child('capacity');
  return Object.entries(capacity).flatMap(([name, amount]) => validateAmount(amount, capacityAt.key(name)));
}
