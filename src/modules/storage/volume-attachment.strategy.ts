import type { PersistentVolumeSpec } from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asText, fillIn, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateAccessModes } from '../core/access-modes.validation.js';
import { validateCsiSource } from '../core/persistent-volume.validation.js';
import { validateDriverName, validateMapSize } from './parameters.validation.js';

const at = path('spec');

export const volumeAttachmentStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: (attachment) => fillIn(makeFields(attachment, 'status'), 'attached', false),
  prepareForCreate(attachment) {
    attachment['status'] = { attached: false };
  },
  prepareForUpdate(attachment, old) {
    attachment['status'] = old['status'];
  },
  validateCreate: validateSpec,
  validateUpdate: (attachment, old) => [...validateSpec(attachment), ...validateFixed(attachment, old)],
};

const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSpec(attachment: KubeObject): FieldError[] {
  const spec = asFields(attachment['spec']);
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = asFields(spec['source']);
  const sourceAt = at.child('source');
  const nameAt = sourceAt.child('persistentVolumeName');
  const errors = validateDriverName(asText(spec['attacher']), at.child('attacher'));
  if (!isSet(inline) && !isSet(name)) errors.push(...required(undefined, sourceAt, oneSource));
  else if (isSet(inline) && isSet(name)) errors.push(fieldError.forbidden(String(sourceAt), oneSource));
  else if (name === '') errors.push(...required(name, nameAt, 'must specify non empty persistentVolumeName'));
  else if (isSet(name)) errors.push(...checked(asText(name), nameAt, nameIsDnsSubdomain));
  else errors.push(...validateInlineVolume(asFields(inline), sourceAt.child('inlineVolumeSpec')));
  return [...errors, ...checked(asText(spec['nodeName']), at.child('nodeName'), nameIsDnsSubdomain)];
}

const notInline = 'may not be specified in the context of inline volumes';

const notInlineFields = ['claimRef', 'capacity', 'nodeAffinity'] as const;

/** Requires an inline volume to be a CSI volume, without the fields that only a PersistentVolume object can have. */
function validateInlineVolume(volume: PersistentVolumeSpec, volumeAt: FieldPath): FieldError[] {
  const { csi } = volume;
  const csiAt = volumeAt.child('csi');
  return [
    ...notInlineFields
      .filter((field) => Object.keys(volume[field] ?? {}).length > 0)
      .map((field) => fieldError.forbidden(String(volumeAt.child(field)), notInline)),
    ...validateAccessModes(volume.accessModes, volumeAt.child('accessModes')),
    ...(csi ? validateCsiSource(csi, csiAt) : required(undefined, csiAt)),
  ];
}

function validateFixed(attachment: KubeObject, old: KubeObject): FieldError[] {
  if (deepEqual(attachment['spec'], old['spec'])) return [];
  const { attacher, source, nodeName } = asFields(attachment['spec']);
  const { persistentVolumeName = null, inlineVolumeSpec = null } = asFields(source);
  const shown = {
    Attacher: asText(attacher),
    Source: { PersistentVolumeName: persistentVolumeName, InlineVolumeSpec: inlineVolumeSpec },
    NodeName: asText(nodeName),
  };
  return [fieldError.invalid(String(at), shown, 'field is immutable')];
}

/** What went wrong is told in words, and objects are no logs. */
const messageBytesMax = 1024;

export const volumeAttachmentStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate(attachment) {
    const status = asFields(attachment['status']);
    const statusAt = path('status');
    return [
      ...validateMapSize(status['attachmentMetadata'], statusAt.child('attachmentMetadata')),
      ...['attachError', 'detachError'].flatMap((field) => validateVolumeError(status[field], statusAt.child(field))),
    ];
  },
});

function validateVolumeError(error: unknown, errorAt: FieldPath): FieldError[] {
  const isLong = Buffer.byteLength(asText(asFields(error)['message'])) > messageBytesMax;
  return isLong ? [fieldError.tooLong(String(errorAt.child('message')), messageBytesMax)] : [];
}
