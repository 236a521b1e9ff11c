import type { PersistentVolumeSpec } from '../../catalog/types/core.v1.js';
import type { VolumeAttachment, VolumeError } from '../../catalog/types/storage.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateAccessModes } from '../core/access-modes.validation.js';
import { validateCsiSource } from '../core/persistent-volume.validation.js';
import { validateDriverName, validateMapSize } from './parameters.validation.js';

const at = path('spec');

export const volumeAttachmentStrategy: Strategy<VolumeAttachment> = {
  validateName: nameIsDnsSubdomain,
  default(attachment) {
    const status = (attachment.status ??= {});
    status.attached ??= false;
  },
  initialStatus: () => ({ attached: false }),
  validateCreate: validateSpec,
  validateUpdate: (attachment, old) => [...validateSpec(attachment), ...validateFixed(attachment, old)],
};

const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSpec({ spec = {} }: VolumeAttachment): FieldError[] {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = spec.source ?? {};
  const sourceAt = at.child('source');
  const nameAt = sourceAt.child('persistentVolumeName');
  const errors = validateDriverName(spec.attacher ?? '', at.child('attacher'));
  if (!inline && name === undefined) errors.push(...required(undefined, sourceAt, oneSource));
  else if (inline && name !== undefined) errors.push(fieldError.forbidden(sourceAt, oneSource));
  else if (name === '') errors.push(...required(name, nameAt, 'must specify non empty persistentVolumeName'));
  else if (name !== undefined) errors.push(...checked(name, nameAt, nameIsDnsSubdomain));
  else if (inline) errors.push(...validateInlineVolume(inline, sourceAt.child('inlineVolumeSpec')));
  return [...errors, ...checked(spec.nodeName ?? '', at.child('nodeName'), nameIsDnsSubdomain)];
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
      .map((field) => fieldError.forbidden(volumeAt.child(field), notInline)),
    ...validateAccessModes(volume.accessModes, volumeAt.child('accessModes')),
    ...(csi ? validateCsiSource(csi, csiAt) : required(undefined, csiAt)),
  ];
}

function validateFixed({ spec }: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  if (deepEqual(spec, old.spec)) return [];
  const { attacher = '', source = {}, nodeName = '' } = spec ?? {};
  const { persistentVolumeName = null, inlineVolumeSpec = null } = source;
  const shown = {
    Attacher: attacher,
    Source: { PersistentVolumeName: persistentVolumeName, InlineVolumeSpec: inlineVolumeSpec },
    NodeName: nodeName,
  };
  return [fieldError.invalid(at, shown, 'field is immutable')];
}

const messageBytesMax = 1024;

export const volumeAttachmentStatusSubresource = statusSubresource<VolumeAttachment>({
  keepsMetadata: true,
  validate({ status = {} }) {
    const statusAt = path('status');
    return [
      ...validateMapSize(status.attachmentMetadata, statusAt.child('attachmentMetadata')),
      ...validateVolumeError(status.attachError, statusAt.child('attachError')),
      ...validateVolumeError(status.detachError, statusAt.child('detachError')),
    ];
  },
});

function validateVolumeError({ message = '' }: VolumeError = {}, errorAt: FieldPath): FieldError[] {
  const isLong = Buffer.byteLength(message) > messageBytesMax;
  return isLong ? [fieldError.tooLong(errorAt.child('message'), messageBytesMax)] : [];
}
