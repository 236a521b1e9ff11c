import type { PersistentVolume, PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';

const abbreviations: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** Returns access modes as `RWO,RWX`, in a fixed order and without duplicates. */
export function accessModesCell(modes: readonly string[] = []): string {
  return Object.entries(abbreviations)
    .flatMap(([mode, short]) => (modes.includes(mode) ? [short] : []))
    .join(',');
}

export const orUnset = (text: string): string => (text === '' ? '<unset>' : text);

export function volumePhase({ metadata, status }: PersistentVolume | PersistentVolumeClaim): string {
  return metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');
}

/** Returns a function that reads the StorageClass. The beta annotation wins over the field, as for volume controllers. */
export function storageClassOf(naming: NamingProfile): (object: PersistentVolume | PersistentVolumeClaim) => string {
  const annotation = naming.label('storage-class', 'volume.beta');
  return ({ metadata, spec }) => metadata.annotations?.[annotation] ?? spec?.storageClassName ?? '';
}
