import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  FCVolumeSource,
  ISCSIVolumeSource,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  SecretProjection,
  ServiceAccountTokenProjection,
  Volume,
} from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import {
  between,
  duplicates,
  each,
  memberErrors,
  oneOf,
  onlyOneOf,
  required,
  requiredName,
} from '../../../machinery/field-rules.js';
import { validateDnsLabel } from '../../../machinery/names.js';
import { validateTemplateMetadata } from '../../../machinery/object-meta-validation.js';
import { validateClaimSpec } from '../persistent-volume-claim.validation.js';
import { fieldsOfVolumes, validateFieldRef, validateResourceFieldRef } from './field-ref.validation.js';
import { validateNoBackstep, validateRelativePath, validateVolumeFilePath } from './paths.validation.js';
import { isNegative } from './pod-resources.js';

export function validateVolumes(volumes: readonly Volume[], at: FieldPath): FieldError[] {
  return [
    ...each(volumes, at, (volume, volumeAt) => [
      ...requiredName(volume.name ?? '', volumeAt.child('name'), validateDnsLabel),
      ...validateSource(volume, volumeAt),
    ]),
    ...duplicates(
      volumes,
      ({ name = '' }) => name,
      (index) => at.index(index).child('name'),
    ),
  ];
}

function validateSource(volume: Volume, at: FieldPath): FieldError[] {
  const { taken, errors } = onlyOneOf(volume, at, sourceNames, 'may not specify more than 1 volume type');
  if (taken === undefined) return [fieldError.required(at, 'must specify a volume type')];
  return [...memberErrors(volume, taken, at, sourceRules), ...errors];
}

type SourceName = Exclude<keyof Volume, 'name'>;
export type SourceRule<T> = (source: T, at: FieldPath) => FieldError[];

/** Requires each of some fields, which are texts or lists, to be set and not empty. */
export const needs =
  <T extends object>(...fields: readonly (keyof T & string)[]): SourceRule<T> =>
  (source, at) =>
    fields.flatMap((field) => {
      const value = source[field];
      const isEmpty = Array.isArray(value) ? value.length === 0 : !value;
      return isEmpty ? [fieldError.required(at.child(field))] : [];
    });

/** Combines rules: returns the errors of each. */
export const all =
  <T>(...rules: readonly SourceRule<NoInfer<T>>[]): SourceRule<T> =>
  (source, at) =>
    rules.flatMap((rule) => rule(source, at));

function validateMode(mode: number | undefined, at: FieldPath): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return [];
  return [fieldError.invalid(at, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

const hasValidDefaultMode: SourceRule<{ readonly defaultMode?: number | undefined }> = ({ defaultMode }, at) =>
  validateMode(defaultMode, at.child('defaultMode'));

/** Validates which keys of a Secret or ConfigMap become which files. */
const hasValidItems: SourceRule<{ readonly items?: readonly KeyToPath[] | undefined }> = ({ items }, at) =>
  each(items, at.child('items'), ({ key, path = '', mode }, itemAt) => [
    ...required(key, itemAt.child('key')),
    ...(path === '' ? required(path, itemAt.child('path')) : validateVolumeFilePath(path, itemAt.child('path'))),
    ...validateMode(mode, itemAt.child('mode')),
  ]);

/** Reports errors of each item at the volume source, as kube-apiserver does. */
const hasValidFiles: SourceRule<{ readonly items?: readonly DownwardAPIVolumeFile[] | undefined }> = (
  { items = [] },
  at,
) => items.flatMap((item) => validateDownwardFile(item, at));

function validateDownwardFile(item: DownwardAPIVolumeFile, at: FieldPath): FieldError[] {
  const { path = '', fieldRef, resourceFieldRef, mode } = item;
  const errors = path === '' ? required(path, at.child('path')) : validateVolumeFilePath(path, at.child('path'));
  if (fieldRef) {
    errors.push(...validateFieldRef(fieldRef, at.child('fieldRef'), fieldsOfVolumes));
    if (resourceFieldRef) {
      const message = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(fieldError.invalid(at, 'resource', message));
    }
  } else if (resourceFieldRef) {
    errors.push(...validateResourceFieldRef(resourceFieldRef, at.child('resourceFieldRef'), true));
  } else errors.push(fieldError.required(at, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...validateMode(mode, at.child('mode'))];
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** The rule of each volume source. Sources that are also sources of PersistentVolumes have the same rule there. */
export const sourceRules: { readonly [Name in SourceName]: SourceRule<NonNullable<Volume[Name]>> } = {
  emptyDir: ({ sizeLimit }, at) =>
    isNegative(sizeLimit)
      ? [fieldError.forbidden(at.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: ({ path = '', type }, at) => [
    ...(path === '' ? required(path, at.child('path')) : validateNoBackstep(path, at.child('path'))),
    ...oneOf(type, at.child('type'), hostPathTypes),
  ],
  gitRepo: all(needs('repository'), ({ directory = '' }, at) => validateRelativePath(directory, at.child('directory'))),
  gcePersistentDisk: all(needs('pdName'), ({ partition }, at) => between(partition, at.child('partition'), 0, 255)),
  awsElasticBlockStore: all(needs('volumeID'), ({ partition }, at) =>
    between(partition, at.child('partition'), 0, 255),
  ),
  secret: all(needs('secretName'), hasValidDefaultMode, hasValidItems),
  nfs: all(needs('server', 'path'), ({ path = '' }, at) =>
    path === '' || path.startsWith('/') ? [] : [fieldError.invalid(at.child('path'), path, 'must be an absolute path')],
  ),
  iscsi: all(needs('targetPortal'), validateIscsi),
  glusterfs: needs('endpoints', 'path'),
  flocker: ({ datasetName, datasetUUID }, at) =>
    !datasetName && !datasetUUID ? [fieldError.required(at, 'one of datasetName and datasetUUID is required')] : [],
  rbd: needs('monitors', 'image'),
  cinder: needs('volumeID'),
  cephfs: needs('monitors'),
  quobyte: needs('registry', 'volume'),
  downwardAPI: all(hasValidDefaultMode, hasValidFiles),
  fc: validateFibreChannel,
  flexVolume: needs('driver'),
  configMap: all(needs('name'), hasValidDefaultMode, hasValidItems),
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: needs('diskName', 'diskURI'),
  storageos: needs('volumeName'),
  projected: all(hasValidDefaultMode, validateProjections),
  scaleIO: needs('gateway', 'system', 'volumeName'),
  csi: needs('driver'),
  persistentVolumeClaim: needs('claimName'),
  ephemeral: ({ volumeClaimTemplate: template }, at) => {
    const templateAt = at.child('volumeClaimTemplate');
    if (!template) return [fieldError.required(templateAt)];
    return [
      ...validateTemplateMetadata(template.metadata ?? {}, templateAt.child('metadata')),
      ...validateClaimSpec(template.spec ?? {}, templateAt.child('spec')),
    ];
  },
  image: all(needs('reference'), ({ pullPolicy }, at) =>
    oneOf(pullPolicy, at.child('pullPolicy'), ['Always', 'IfNotPresent', 'Never']),
  ),
};
const sourceNames = Object.keys(sourceRules) as SourceName[];

function validateIscsi({ iqn = '', lun = 0 }: ISCSIVolumeSource, at: FieldPath): FieldError[] {
  const errors = between(lun, at.child('lun'), 0, 255);
  if (iqn === '') return [...errors, fieldError.required(at.child('iqn'))];
  if (/^(?:iqn|eui|naa)\./.test(iqn)) return errors;
  const message = 'must be valid format starting with iqn, eui, or naa';
  return [...errors, fieldError.invalid(at.child('iqn'), iqn, message)];
}

function validateFibreChannel({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: FieldPath): FieldError[] {
  const hasNames = targetWWNs.length > 0;
  const hasIds = wwids.length > 0;
  const namesAt = at.child('targetWWNs');
  if (!hasNames && !hasIds)
    return [fieldError.required(namesAt, 'must specify either targetWWNs or wwids, but not both')];
  if (hasNames && hasIds) {
    return [fieldError.invalid(namesAt, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')];
  }
  if (!hasNames) return [];
  const lunAt = at.child('lun');
  if (lun === undefined) return [fieldError.required(lunAt, 'lun is required if targetWWNs is specified')];
  return between(lun, lunAt, 0, 255);
}

const projections = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
] as const;

/** Validates the sources of a projected volume. Two files of them must not have one path, except for tokens. */
function validateProjections(volume: ProjectedVolumeSource, at: FieldPath): FieldError[] {
  const paths = new Set<string>();
  const usePath = (path: string, shown: string): FieldError[] => {
    if (path !== '' && paths.has(path)) return [fieldError.invalid(at, shown, 'conflicting duplicate paths')];
    paths.add(path);
    return [];
  };
  const useEachPath = (items: readonly { path?: string | undefined }[] = [], shown?: string): FieldError[] =>
    items.flatMap(({ path = '' }) => usePath(path, shown ?? path));
  return each(volume.sources, at.child('sources'), (source, sourceAt) => {
    const { taken, errors } = onlyOneOf(
      source,
      sourceAt,
      projections,
      'may not specify more than 1 volume type per source',
    );
    const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
    const takenAt = sourceAt.child(taken ?? '');
    const files = taken === 'secret' ? secret : taken === 'configMap' ? configMap : undefined;
    if (files) errors.push(...validateProjectedFiles(files, takenAt), ...useEachPath(files.items, files.name ?? ''));
    else if (taken === 'downwardAPI' && downwardAPI) {
      errors.push(...hasValidFiles(downwardAPI, takenAt), ...useEachPath(downwardAPI.items));
    } else if (taken === 'serviceAccountToken' && serviceAccountToken) {
      errors.push(...validateProjectedToken(serviceAccountToken, takenAt));
    } else if (taken === 'clusterTrustBundle' && clusterTrustBundle) {
      const { path = '' } = clusterTrustBundle;
      errors.push(...validateProjectedPath(clusterTrustBundle, takenAt), ...usePath(path, path));
    } else if (taken === 'podCertificate' && podCertificate) {
      errors.push(...needs<PodCertificateProjection>('signerName', 'keyType')(podCertificate, takenAt));
    }
    return errors;
  });
}

/** ConfigMapProjection has the same fields. */
const validateProjectedFiles: SourceRule<SecretProjection> = all(needs('name'), hasValidItems);

const validateProjectedPath: SourceRule<ClusterTrustBundleProjection | ServiceAccountTokenProjection> = all(
  needs('path'),
  ({ path = '' }, at) => validateVolumeFilePath(path, at.child('path')),
);

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

function validateProjectedToken(token: ServiceAccountTokenProjection, at: FieldPath): FieldError[] {
  const errors = validateProjectedPath(token, at);
  const { expirationSeconds: seconds } = token;
  if (seconds === undefined) return errors;
  const secondsAt = at.child('expirationSeconds');
  if (seconds < tokenSecondsMin) {
    errors.push(fieldError.invalid(secondsAt, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > tokenSecondsMax) {
    errors.push(fieldError.invalid(secondsAt, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return errors;
}
