import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition as Condition,
} from '../catalog/types/apiextensions.v1.js';

/** A condition without its lastTransitionTime. */
export interface Finding {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function conditionsOf({ status }: CustomResourceDefinition): readonly Condition[] {
  return status?.conditions ?? [];
}

export function holds(definition: CustomResourceDefinition, type: string): boolean {
  return conditionsOf(definition).some((condition) => condition.type === type && condition.status === 'True');
}

/** True if objects of the kind are served. Never becomes false again. */
export const isEstablished = (definition: CustomResourceDefinition): boolean => holds(definition, 'Established');

/** Adds or replaces the condition of that type; returns the same list if nothing changes. */
export function withFinding(before: readonly Condition[], finding: Finding, now: string): readonly Condition[] {
  const known = before.find(({ type }) => type === finding.type);
  if (known && (['status', 'reason', 'message'] as const).every((field) => known[field] === finding[field])) {
    return before;
  }
  const { type, status, reason, message } = finding;
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
  const condition = { type, status, lastTransitionTime, reason, message };
  return known ? before.map((it) => (it === known ? condition : it)) : [...before, condition];
}

/** Removes the condition of that type; returns the same list if there is none. */
export function withoutFinding(before: readonly Condition[], type: string): readonly Condition[] {
  return before.some((condition) => condition.type === type)
    ? before.filter((condition) => condition.type !== type)
    : before;
}
