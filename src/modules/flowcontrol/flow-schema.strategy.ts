import { asFields, fillInZero, makeFields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateConditions, validateFlowSchema } from './flow-schema.validation.js';

const matchingPrecedenceDefault = 1000;

/** Which requests belong together, and which priority level they go to. */
export const flowSchemaStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(schema) {
    fillInZero(makeFields(schema, 'spec'), 'matchingPrecedence', matchingPrecedenceDefault);
    makeFields(asFields(schema['spec']), 'priorityLevelConfiguration');
    makeFields(schema, 'status');
  },
  prepareForCreate(schema) {
    schema['status'] = {};
  },
  prepareForUpdate(schema, old) {
    schema['status'] = old['status'];
  },
  validateCreate: (schema) => [...validateFlowSchema(schema), ...validateConditions(schema)],
  validateUpdate: (schema) => [...validateFlowSchema(schema), ...validateConditions(schema)],
};
