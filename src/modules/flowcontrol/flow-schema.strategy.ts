import type { FlowSchema } from '../../catalog/types/flowcontrol.v1.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateConditions, validateFlowSchema } from './flow-schema.validation.js';

const matchingPrecedenceDefault = 1000;

/** A FlowSchema matches requests and assigns them to a priority level. */
export const flowSchemaStrategy: Strategy<FlowSchema> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(schema) {
    const spec = (schema.spec ??= {});
    spec.matchingPrecedence ||= matchingPrecedenceDefault;
    spec.priorityLevelConfiguration ??= {};
    schema.status ??= {};
  },
  validateCreate: (schema) => [...validateFlowSchema(schema), ...validateConditions(schema)],
  validateUpdate: (schema) => [...validateFlowSchema(schema), ...validateConditions(schema)],
};
