import type { Container, VolumeDevice } from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { each, oneOf } from '../../../machinery/field-rules.js';
import { validateRelativePath } from './paths.validation.js';
import type { PodReferences } from './pod-references.js';

export function validateMounts(
  { volumeMounts, volumeDevices, securityContext }: Container,
  at: FieldPath,
  references: PodReferences,
): FieldError[] {
  const mountsAt = at.child('volumeMounts');
  const isPrivileged = securityContext?.privileged === true;
  const paths = new Set<string>();
  return [
    ...each(volumeMounts, mountsAt, (mount, mountAt) => {
      const { name = '', mountPath = '', subPath = '', subPathExpr = '' } = mount;
      const nameAt = mountAt.child('name');
      const pathAt = mountAt.child('mountPath');
      const errors: FieldError[] = [];
      if (name === '') errors.push(fieldError.required(nameAt));
      else if (!references.volumes.has(name)) errors.push(fieldError.notFound(nameAt, name));
      if (mountPath === '') errors.push(fieldError.required(pathAt));
      if (paths.has(mountPath)) errors.push(fieldError.invalid(pathAt, mountPath, 'must be unique'));
      paths.add(mountPath);
      errors.push(...validateRelativePath(subPath, mountsAt.child('subPath')));
      errors.push(...validateRelativePath(subPathExpr, mountsAt.child('subPathExpr')));
      if (subPath !== '' && subPathExpr !== '') {
        const message = 'subPathExpr and subPath are mutually exclusive';
        errors.push(fieldError.invalid(mountAt.child('subPathExpr'), subPathExpr, message));
      }
      return [
        ...errors,
        ...validatePropagation(mount.mountPropagation, mountsAt.child('mountPropagation'), isPrivileged),
      ];
    }),
    ...validateDevices(volumeDevices ?? [], at.child('volumeDevices'), references, paths),
  ];
}

function validatePropagation(propagation: string | undefined, at: FieldPath, isPrivileged: boolean): FieldError[] {
  if (propagation === 'Bidirectional' && !isPrivileged) {
    const message = 'Bidirectional mount propagation is available only to privileged containers';
    return [fieldError.forbidden(at, message)];
  }
  return oneOf(propagation, at, ['Bidirectional', 'HostToContainer', 'None']);
}

function validateDevices(
  devices: readonly VolumeDevice[],
  at: FieldPath,
  { volumes }: PodReferences,
  mountPaths: ReadonlySet<string>,
): FieldError[] {
  return each(devices, at, ({ name = '', devicePath = '' }, deviceAt) => {
    const nameAt = deviceAt.child('name');
    const pathAt = deviceAt.child('devicePath');
    const volume = volumes.get(name);
    const errors: FieldError[] = [];
    if (name === '') errors.push(fieldError.required(nameAt));
    else if (!volume) errors.push(fieldError.notFound(nameAt, name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const message = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      errors.push(fieldError.invalid(nameAt, name, message));
    }
    if (devicePath === '') errors.push(fieldError.required(pathAt));
    else if (mountPaths.has(devicePath)) {
      errors.push(fieldError.invalid(pathAt, devicePath, 'must not already exist in volumeMounts'));
    }
    return errors;
  });
}
