import type { FlowSchema, FlowSchemaCondition } from '../../catalog/types/flowcontrol.v1.js';

/** Returns the name of the PriorityLevelConfiguration of a FlowSchema. */
export function levelOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration?.name ?? '';
}

/**
 * Sets the condition Dangling: True if the priority level does not exist. lastTransitionTime changes with the status
 * only.
 */
export function conditionsAfter(schema: FlowSchema, levelExists: boolean, now: string): FlowSchemaCondition[] {
  const conditions = schema.status?.conditions ?? [];
  const known = conditions.find(({ type }) => type === 'Dangling');
  const references = `This FlowSchema references the PriorityLevelConfiguration object named "${levelOf(schema)}"`;
  const status = levelExists ? 'False' : 'True';
  const dangling = {
    type: 'Dangling',
    status,
    lastTransitionTime: known?.status === status ? known.lastTransitionTime : now,
    reason: levelExists ? 'Found' : 'NotFound',
    message: levelExists ? `${references} and it exists` : `${references} but there is no such object`,
  };
  return known ? conditions.map((it) => (it === known ? dangling : it)) : [...conditions, dangling];
}
