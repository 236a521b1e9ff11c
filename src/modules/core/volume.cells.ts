import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText, asTexts } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

const abbreviations: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** `RWO,RWX`, each once and always in the same order. */
export function accessModesCell(modes: unknown): string {
  const given = asTexts(modes);
  return Object.entries(abbreviations)
    .flatMap(([mode, short]) => (given.includes(mode) ? [short] : []))
    .join(',');
}

export const orUnset = (text: string): string => (text === '' ? '<unset>' : text);

export function volumePhase(object: KubeObject): string {
  return object.metadata.deletionTimestamp ? 'Terminating' : asText(asFields(object['status'])['phase']);
}

/** The class in the annotation that is older than the field wins, as volume controllers read them. */
export function storageClassOf(naming: NamingProfile): (object: KubeObject) => string {
  const annotation = naming.label('storage-class', 'volume.beta');
  return (object) => object.metadata.annotations?.[annotation] ?? asText(asFields(object['spec'])['storageClassName']);
}
