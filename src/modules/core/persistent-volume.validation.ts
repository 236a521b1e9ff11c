import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, memberErrors, oneOf, onlyOneOf, required } from '../../machinery/field-rules.js';
import { goStruct } from '../../machinery/go-value.js';
import { immutable } from '../../machinery/immutable.js';
import { jsonDiff } from '../../machinery/json-diff.js';
import { validateDnsSubdomain } from '../../machinery/names.js';
import { validateAccessModes, volumeModes } from './access-modes.validation.js';
import { validateAmount, validatePositiveAmount } from './amounts.validation.js';
import { volumeSourceShape } from './go-shapes.js';
import { validateNoBackstep } from './pod/paths.validation.js';
import { validateNodeSelector } from './pod/scheduling.validation.js';
import { all, needs, sourceRules as podSourceRules, type SourceRule } from './pod/volume.validation.js';

const at = path('spec');

type SourceName = keyof PersistentVolumeSource;

const { hostPath, gcePersistentDisk, awsElasticBlockStore, glusterfs, flocker, nfs, rbd, quobyte } = podSourceRules;
const { cephfs, iscsi, cinder, fc, flexVolume, azureFile, vsphereVolume, photonPersistentDisk } = podSourceRules;
const { portworxVolume, azureDisk, scaleIO, storageos } = podSourceRules;

/** The rule of each source of a PersistentVolume. Most have the rule of the same source of a Pod. */
const sourceRules: { readonly [Name in SourceName]-?: SourceRule<NonNullable<PersistentVolumeSource[Name]>> } = {
  ...{ hostPath, gcePersistentDisk, awsElasticBlockStore, glusterfs, flocker, nfs, rbd, quobyte },
  ...{ cephfs, iscsi, cinder, fc, flexVolume, azureFile, vsphereVolume, photonPersistentDisk },
  ...{ portworxVolume, azureDisk, scaleIO, storageos },
  local: all(needs('path'), (source, sourceAt) => validateNoBackstep(source.path ?? '', sourceAt.child('path'))),
  csi: validateCsiSource,
};
const sourceNames = Object.keys(sourceRules) as SourceName[];

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

/** Also validates the inline volume of a VolumeAttachment. */
export function validateCsiSource(csi: CSIPersistentVolumeSource, csiAt: FieldPath): FieldError[] {
  const { driver = '' } = csi;
  return [
    ...needs<CSIPersistentVolumeSource>('driver', 'volumeHandle')(csi, csiAt),
    ...(driver === '' ? [] : checked(driver.toLowerCase(), csiAt.child('driver'), validateDnsSubdomain)),
    ...csiSecrets.flatMap((field) => {
      const secret = csi[field];
      return secret ? needs<SecretReference>('name', 'namespace')(secret, csiAt.child(field)) : [];
    }),
  ];
}

export function validatePersistentVolume({ spec = {} }: PersistentVolume): FieldError[] {
  const { storageClassName = '' } = spec;
  return [
    ...validateCapacity(spec.capacity),
    ...validateAccessModes(spec.accessModes, at.child('accessModes')),
    ...validateSource(spec),
    ...validateNodeAffinity(spec),
    ...validateReclaim(spec),
    ...(storageClassName === '' ? [] : checked(storageClassName, at.child('storageClassName'), validateDnsSubdomain)),
    ...oneOf(spec.volumeMode, at.child('volumeMode'), volumeModes),
  ];
}

function validateCapacity(capacity: PersistentVolumeSpec['capacity']): FieldError[] {
  const capacityAt = at.child('capacity');
  const amounts = Object.entries(capacity ?? {});
  const errors = amounts.length === 0 ? required(undefined, capacityAt) : [];
  if (amounts.length !== 1 || amounts[0]![0] !== 'storage') {
    errors.push(fieldError.notSupported(capacityAt, capacity, ['storage']));
    return errors;
  }
  return amounts.flatMap(([name, amount]) => [
    ...validateAmount(amount, capacityAt.key(name)),
    ...validatePositiveAmount(amount, capacityAt.key(name)),
  ]);
}

function validateSource(source: PersistentVolumeSource): FieldError[] {
  const { taken, errors } = onlyOneOf(source, at, sourceNames, 'may not specify more than 1 volume type');
  if (taken === undefined) return [fieldError.required(at, 'must specify a volume type')];
  return [...memberErrors(source, taken, at, sourceRules), ...errors];
}

function validateNodeAffinity({ nodeAffinity, local }: PersistentVolumeSpec): FieldError[] {
  const affinityAt = at.child('nodeAffinity');
  if (!nodeAffinity) return local ? [fieldError.required(affinityAt, 'Local volume requires node affinity')] : [];
  const selectorAt = affinityAt.child('required');
  if (!nodeAffinity.required) return [fieldError.required(selectorAt, 'must specify required node constraints')];
  return validateNodeSelector(nodeAffinity.required, selectorAt);
}

function validateReclaim({ persistentVolumeReclaimPolicy: policy, hostPath }: PersistentVolumeSpec): FieldError[] {
  const policyAt = at.child('persistentVolumeReclaimPolicy');
  const errors = policy ? oneOf(policy, policyAt, ['Delete', 'Recycle', 'Retain']) : [];
  const isRoot = /^\/+$/.test(hostPath?.path ?? '');
  if (policy === 'Recycle' && isRoot) {
    errors.push(fieldError.forbidden(policyAt, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  return errors;
}

/** Validates an update. Some errors have a path without `spec`, as in kube-apiserver. */
export function validatePersistentVolumeUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  const { spec = {} } = volume;
  const { spec: before = {} } = old;
  const sources = (source: PersistentVolumeSource) => sourceNames.map((name) => source[name] ?? null);
  const errors = validatePersistentVolume(volume);
  if (!deepEqual(sources(withoutNewExpandSecret(spec, before)), sources(before))) {
    const message = 'spec.persistentvolumesource is immutable after creation';
    const changes = jsonDiff(goStruct(before, volumeSourceShape), goStruct(spec, volumeSourceShape));
    errors.push(fieldError.forbidden(at.child('persistentvolumesource'), `${message}\n${changes}`));
  }
  return [
    ...errors,
    ...immutable(spec.volumeMode, before.volumeMode, path('volumeMode')),
    ...(before.nodeAffinity ? immutable(spec.nodeAffinity, before.nodeAffinity, path('nodeAffinity')) : []),
    ...(before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined
      ? [fieldError.forbidden(at.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden')]
      : []),
  ];
}

/** Returns the sources without a controllerExpandSecretRef that the old object lacks, since it can be set once. */
function withoutNewExpandSecret(
  spec: PersistentVolumeSource,
  { csi: csiBefore }: PersistentVolumeSource,
): PersistentVolumeSource {
  if (!spec.csi || !csiBefore || csiBefore.controllerExpandSecretRef) return spec;
  const { controllerExpandSecretRef: _secret, ...csi } = spec.csi;
  return { ...spec, csi };
}
