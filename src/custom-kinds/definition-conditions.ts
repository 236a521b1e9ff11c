import { asFields, asItems, type Fields } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';

/** A condition without its lastTransitionTime. */
export interface Finding {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function conditionsOf(definition: KubeObject): readonly Fields[] {
  return asItems(asFields(definition['status'])['conditions']);
}

export function holds(definition: KubeObject, type: string): boolean {
  return conditionsOf(definition).some((condition) => condition['type'] === type && condition['status'] === 'True');
}

/** True if objects of the kind are served. Never becomes false again. */
export const isEstablished = (definition: KubeObject): boolean => holds(definition, 'Established');

/** Adds or replaces the condition of that type; returns the same list if nothing changes. */
export function withFinding(before: readonly Fields[], finding: Finding, now: string): readonly Fields[] {
  const known = before.find(({ type }) => type === finding.type);
  if (known && (['status', 'reason', 'message'] as const).every((field) => known[field] === finding[field])) {
    return before;
  }
  const { type, status, reason, message } = finding;
  const isTurned = known?.['status'] !== status;
  const lastTransitionTime = isTurned ? now : (known['lastTransitionTime'] ?? now);
  const condition = { type, status, lastTransitionTime, reason, message };
  return known ? before.map((it) => (it === known ? condition : it)) : [...before, condition];
}

/** Removes the condition of that type; returns the same list if there is none. */
export function withoutFinding(before: readonly Fields[], type: string): readonly Fields[] {
  return before.some((condition) => condition['type'] === type)
    ? before.filter((condition) => condition['type'] !== type)
    : before;
}
