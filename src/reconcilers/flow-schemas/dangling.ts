import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

export function levelOf(schema: KubeObject): string {
  return asText(asFields(asFields(schema['spec'])['priorityLevelConfiguration'])['name']);
}

/**
 * The conditions of a flow schema, with the one that says whether its requests have a level to go to. The time in it
 * is that of the last change.
 */
export function conditionsAfter(schema: KubeObject, levelExists: boolean, now: string): Fields[] {
  const conditions = asItems(asFields(schema['status'])['conditions']);
  const known = conditions.find(({ type }) => type === 'Dangling');
  const references = `This FlowSchema references the PriorityLevelConfiguration object named "${levelOf(schema)}"`;
  const status = levelExists ? 'False' : 'True';
  const dangling = {
    type: 'Dangling',
    status,
    lastTransitionTime: known?.['status'] === status ? known['lastTransitionTime'] : now,
    reason: levelExists ? 'Found' : 'NotFound',
    message: levelExists ? `${references} and it exists` : `${references} but there is no such object`,
  };
  return known ? conditions.map((it) => (it === known ? dangling : it)) : [...conditions, dangling];
}
