import type {
  FlowSchema,
  FlowSchemaSpec,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '../../src/catalog/types/flowcontrol.v1.js';
import type { NamingProfile } from '../../src/config/naming-profile.js';
import type { TurnScheduler } from '../../src/flow/dispatch-turns.js';
import type { FlowObjects } from '../../src/flow/flow-control.js';
import { flowcontrolBootObjects } from '../../src/modules/flowcontrol/boot-objects.js';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../src/modules/flowcontrol/mandatory-objects.js';

/** Turns of Node's event loop, without responses. */
export const nodeTurns: TurnScheduler = {
  afterReading: (task) => void setImmediate(task),
  afterContinuations: (task) => queueMicrotask(() => process.nextTick(task)),
  sendFinished: () => undefined,
};

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';

export function flowObject(name: string, spec: FlowSchemaSpec): FlowSchema {
  return { kind: 'FlowSchema', apiVersion, metadata: { name, uid: `schema-${name}` }, spec };
}

function levelOf(name: string, spec: PriorityLevelConfigurationSpec): PriorityLevelConfiguration {
  return { kind: 'PriorityLevelConfiguration', apiVersion, metadata: { name, uid: `level-${name}` }, spec };
}

/** A PriorityLevelConfiguration that rejects, unless `limited` has another response. */
export function levelObject(name: string, limited: LimitedPriorityLevelConfiguration): PriorityLevelConfiguration {
  return levelOf(name, { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited } });
}

/** The objects of a new cluster, and those that are always in force. */
export function standardObjects(naming: NamingProfile): { readonly all: FlowObjects; readonly mandatory: FlowObjects } {
  const objects = (schemas: Readonly<Record<string, FlowSchemaSpec>>, levels: Readonly<Record<string, PriorityLevelConfigurationSpec>>) => ({
    schemas: Object.entries(schemas).map(([name, spec]) => flowObject(name, spec)),
    levels: Object.entries(levels).map(([name, spec]) => levelOf(name, spec)),
  }); // prettier-ignore
  const { flowSchemas, priorityLevels } = flowcontrolBootObjects(naming);
  return {
    all: objects(flowSchemas, priorityLevels),
    mandatory: objects(mandatoryFlowSchemas, mandatoryPriorityLevels),
  };
}
