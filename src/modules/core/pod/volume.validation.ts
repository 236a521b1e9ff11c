import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, duplicates, each, oneOf, onlyOneOf, required, requiredName } from '../../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../../machinery/fields.js';
import { validateDnsLabel } from '../../../machinery/names.js';
import { validateClaimSpec } from '../persistent-volume-claim.validation.js';
import { fieldsOfVolumes, validateFieldRef, validateResourceFieldRef } from './field-ref.validation.js';
import { hasNoBackstep, isFilePath, isVolumeFilePath } from './paths.validation.js';
import { isNegative } from './pod-resources.js';

export function validateVolumes(volumes: unknown, at: FieldPath): FieldError[] {
  return [
    ...each(volumes, at, (volume, volumeAt) => [
      ...requiredName(asText(volume['name']), volumeAt.child('name'), validateDnsLabel),
      ...validateSource(volume, volumeAt),
    ]),
    ...duplicates(
      asItems(volumes),
      (volume) => asText(volume['name']),
      (index) => at.index(index).child('name'),
    ),
  ];
}

function validateSource(volume: Fields, at: FieldPath): FieldError[] {
  const { taken, errors } = onlyOneOf(volume, at, Object.keys(sourceRules), 'may not specify more than 1 volume type');
  if (taken === undefined) return [fieldError.required(String(at), 'must specify a volume type')];
  return [...sourceRules[taken]!(asFields(volume[taken]), at.child(taken)), ...errors];
}

export type SourceRule = (source: Fields, at: FieldPath) => FieldError[];

/** The rule of most sources: some fields must say something. */
export const needs =
  (...fields: string[]): SourceRule =>
  (source, at) =>
    fields.flatMap((field) =>
      Array.isArray(source[field]) && source[field].length > 0 ? [] : required(asText(source[field]), at.child(field)),
    );

export const all =
  (...rules: SourceRule[]): SourceRule =>
  (source, at) =>
    rules.flatMap((rule) => rule(source, at));

const mode =
  (field: string): SourceRule =>
  (source, at) => {
    const bits = source[field];
    if (!isSet(bits) || (asNumber(bits) >= 0 && asNumber(bits) <= 0o777)) return [];
    return [
      fieldError.invalid(String(at.child(field)), bits, 'must be a number between 0 and 0777 (octal), both inclusive'),
    ];
  };

/** Keys and the files they become. */
const keysToPaths: SourceRule = (source, at) =>
  each(source['items'], at.child('items'), (item, itemAt) => {
    const path = asText(item['path']);
    return [
      ...required(asText(item['key']), itemAt.child('key')),
      ...(path === '' ? required(path, itemAt.child('path')) : isVolumeFilePath(path, itemAt.child('path'))),
      ...mode('mode')(item, itemAt),
    ];
  });

const downwardFile =
  (at: FieldPath) =>
  (item: Fields): FieldError[] => {
    const path = asText(item['path']);
    const errors = path === '' ? required(path, at.child('path')) : isVolumeFilePath(path, at.child('path'));
    const hasField = isSet(item['fieldRef']);
    const hasResource = isSet(item['resourceFieldRef']);
    if (hasField) {
      errors.push(...validateFieldRef(asFields(item['fieldRef']), at.child('fieldRef'), fieldsOfVolumes));
      if (hasResource) {
        const message = 'fieldRef and resourceFieldRef can not be specified simultaneously';
        errors.push(fieldError.invalid(String(at), 'resource', message));
      }
    } else if (hasResource) {
      const ref = asFields(item['resourceFieldRef']);
      errors.push(...validateResourceFieldRef(ref, at.child('resourceFieldRef'), true));
    } else errors.push(fieldError.required(String(at), 'one of fieldRef and resourceFieldRef is required'));
    return [...errors, ...mode('mode')(item, at)];
  };

const downwardFiles: SourceRule = (source, at) => asItems(source['items']).flatMap(downwardFile(at));

export const absolutePath =
  (field: string): SourceRule =>
  (source, at) => {
    const path = asText(source[field]);
    return path === '' || path.startsWith('/')
      ? []
      : [fieldError.invalid(String(at.child(field)), path, 'must be an absolute path')];
  };

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

export const sourceRules: Readonly<Record<string, SourceRule>> = {
  emptyDir: (source, at) =>
    isNegative(source['sizeLimit'])
      ? [fieldError.forbidden(String(at.child('sizeLimit')), 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: (source, at) => {
    const path = asText(source['path']);
    return [
      ...(path === '' ? required(path, at.child('path')) : hasNoBackstep(path, at.child('path'))),
      ...oneOf(source['type'], at.child('type'), hostPathTypes),
    ];
  },
  gitRepo: all(needs('repository'), (source, at) => isFilePath(asText(source['directory']), at.child('directory'))),
  gcePersistentDisk: all(needs('pdName'), (source, at) => between(source['partition'], at.child('partition'), 0, 255)),
  awsElasticBlockStore: all(needs('volumeID'), (source, at) =>
    between(source['partition'], at.child('partition'), 0, 255),
  ),
  secret: all(needs('secretName'), mode('defaultMode'), keysToPaths),
  nfs: all(needs('server', 'path'), absolutePath('path')),
  iscsi: all(needs('targetPortal'), validateIscsi),
  glusterfs: needs('endpoints', 'path'),
  flocker: (source, at) =>
    asText(source['datasetName']) === '' && asText(source['datasetUUID']) === ''
      ? [fieldError.required(String(at), 'one of datasetName and datasetUUID is required')]
      : [],
  rbd: needs('monitors', 'image'),
  cinder: needs('volumeID'),
  cephfs: needs('monitors'),
  quobyte: needs('registry', 'volume'),
  downwardAPI: all(mode('defaultMode'), downwardFiles),
  fc: validateFibreChannel,
  flexVolume: needs('driver'),
  configMap: all(needs('name'), mode('defaultMode'), keysToPaths),
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: needs('diskName', 'diskURI'),
  storageos: needs('volumeName'),
  projected: all(mode('defaultMode'), validateProjections),
  scaleIO: needs('gateway', 'system', 'volumeName'),
  csi: needs('driver'),
  persistentVolumeClaim: needs('claimName'),
  ephemeral: (source, at) => {
    const { volumeClaimTemplate: template } = source;
    const templateAt = at.child('volumeClaimTemplate');
    if (!isSet(template)) return [fieldError.required(String(templateAt))];
    return validateClaimSpec(asFields(asFields(template)['spec']), templateAt.child('spec'));
  },
  image: all(needs('reference'), (source, at) =>
    oneOf(source['pullPolicy'], at.child('pullPolicy'), ['Always', 'IfNotPresent', 'Never']),
  ),
};

function validateIscsi(source: Fields, at: FieldPath): FieldError[] {
  const iqn = asText(source['iqn']);
  const errors = between(asNumber(source['lun']), at.child('lun'), 0, 255);
  if (iqn === '') return [...errors, fieldError.required(String(at.child('iqn')))];
  if (/^(?:iqn|eui|naa)\./.test(iqn)) return errors;
  const message = 'must be valid format starting with iqn, eui, or naa';
  return [...errors, fieldError.invalid(String(at.child('iqn')), iqn, message)];
}

function validateFibreChannel(source: Fields, at: FieldPath): FieldError[] {
  const byNames = asTexts(source['targetWWNs']).length > 0;
  const byIds = asTexts(source['wwids']).length > 0;
  const where = String(at.child('targetWWNs'));
  if (!byNames && !byIds) {
    return [fieldError.required(where, 'must specify either targetWWNs or wwids, but not both')];
  }
  if (byNames && byIds) {
    return [
      fieldError.invalid(where, source['targetWWNs'], 'targetWWNs and wwids can not be specified simultaneously'),
    ];
  }
  if (!byNames) return [];
  if (!isSet(source['lun'])) {
    return [fieldError.required(String(at.child('lun')), 'lun is required if targetWWNs is specified')];
  }
  return between(source['lun'], at.child('lun'), 0, 255);
}

const projections = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
];
const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

function validateProjections(volume: Fields, at: FieldPath): FieldError[] {
  const paths = new Set<string>();
  const sourcesAt = at.child('sources');
  const claim = (path: string, value: string): FieldError[] => {
    if (path === '' || !paths.has(path)) {
      paths.add(path);
      return [];
    }
    return [fieldError.invalid(String(at), value, 'conflicting duplicate paths')];
  };
  return each(volume['sources'], sourcesAt, (source, itemAt) => {
    const { taken, errors } = onlyOneOf(
      source,
      itemAt,
      projections,
      'may not specify more than 1 volume type per source',
    );
    if (taken === undefined) return errors;
    const part = asFields(source[taken]);
    const partAt = itemAt.child(taken);
    if (taken === 'secret' || taken === 'configMap') {
      errors.push(...needs('name')(part, partAt), ...keysToPaths(part, partAt));
      for (const item of asItems(part['items'])) errors.push(...claim(asText(item['path']), asText(part['name'])));
    } else if (taken === 'downwardAPI') {
      errors.push(...downwardFiles(part, partAt));
      for (const item of asItems(part['items'])) errors.push(...claim(asText(item['path']), asText(item['path'])));
    } else {
      errors.push(...validateTokenProjection(taken, part, partAt));
      if (taken === 'clusterTrustBundle') errors.push(...claim(asText(part['path']), asText(part['path'])));
    }
    return errors;
  });
}

function validateTokenProjection(kind: string, part: Fields, at: FieldPath): FieldError[] {
  if (kind === 'podCertificate') return needs('signerName', 'keyType')(part, at);
  const errors = needs('path')(part, at);
  errors.push(...isVolumeFilePath(asText(part['path']), at.child('path')));
  if (kind !== 'serviceAccountToken' || !isSet(part['expirationSeconds'])) return errors;
  const seconds = asNumber(part['expirationSeconds']);
  const where = String(at.child('expirationSeconds'));
  if (seconds < tokenSecondsMin)
    errors.push(fieldError.invalid(where, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > tokenSecondsMax) {
    errors.push(fieldError.invalid(where, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return errors;
}
