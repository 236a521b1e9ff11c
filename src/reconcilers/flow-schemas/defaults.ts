import type { FlowSchema, PriorityLevelConfiguration } from '../../catalog/types/flowcontrol.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/** An object that every cluster begins with. */
export interface DefaultObject {
  readonly resource: 'flowschemas' | 'prioritylevelconfigurations';
  readonly name: string;
  readonly spec: object;
  /** Its spec is restored whatever its annotation is. */
  readonly isMandatory: boolean;
}

/** Returns the object as it should be: the same one if nothing is to be done. */
export function revised(current: KubeObject, desired: DefaultObject, annotation: string): KubeObject {
  const isRestored = desired.isMandatory || restoresSpec(current, annotation);
  const isAnnotated = booleanOf(current.metadata.annotations?.[annotation]) === isRestored;
  const isDifferent = isRestored && !hasSpec(current, desired);
  if (isAnnotated && !isDifferent) return current;
  const annotations = isAnnotated
    ? current.metadata.annotations
    : { ...current.metadata.annotations, [annotation]: String(isRestored) };
  return {
    ...current,
    metadata: { ...current.metadata, annotations } as KubeObject['metadata'],
    ...(isDifferent && { spec: structuredClone(desired.spec) }),
  };
}

/** True for an object that an earlier release began with: nobody has taken it over, and it is no longer in the list. */
export function isObsolete({ metadata }: KubeObject, wanted: ReadonlySet<string>, annotation: string): boolean {
  return !wanted.has(metadata.name ?? '') && booleanOf(metadata.annotations?.[annotation]) === true;
}

/** Without a valid annotation, an object is restored as long as its spec was never changed. */
function restoresSpec({ metadata }: KubeObject, annotation: string): boolean {
  return booleanOf(metadata.annotations?.[annotation]) ?? metadata.generation === 1;
}

/** Operators may set the shares and the lendable seats of the level `exempt`. */
function hasSpec(current: KubeObject, { name, spec, resource }: DefaultObject): boolean {
  if (resource === 'prioritylevelconfigurations' && name === 'exempt') {
    const { spec: level }: PriorityLevelConfiguration = current;
    return level?.type === 'Exempt' && level.exempt !== undefined;
  }
  const { spec: found }: FlowSchema | PriorityLevelConfiguration = current;
  return deepEqual(found, spec);
}

/** Reads a boolean as Go does; undefined if it is none. */
function booleanOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}
