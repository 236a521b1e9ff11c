import type { ComponentCondition, ComponentStatus } from '../../catalog/types/core.v1.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';

/** A component of the control plane whose health this server can check. */
export interface Component {
  /** `etcd-0` */
  readonly name: string;
  /** Throws if the component is not healthy. */
  readonly check: () => Promise<void>;
}

/** Checks all components. The API is deprecated, but clients still use it. */
export function componentStatuses(components: readonly Component[]): Promise<ComponentStatus[]> {
  return Promise.all(
    components.map(async ({ name, check }) => ({
      kind: 'ComponentStatus',
      apiVersion: 'v1',
      metadata: { name },
      conditions: [await conditionOf(check)],
    })),
  );
}

async function conditionOf(check: Component['check']): Promise<ComponentCondition> {
  try {
    await check();
    return { type: healthy, status: 'True', message: 'ok' };
  } catch (error) {
    return { type: healthy, status: 'False', error: error instanceof Error ? error.message : String(error) };
  }
}

const healthy = 'Healthy';

export const componentStatusTable: TableDefinition<ComponentStatus> = {
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Healthy, Unhealthy or Unknown.' },
    { name: 'Message', type: 'string', description: 'Message of a healthy component.' },
    { name: 'Error', type: 'string', description: 'Error of an unhealthy component.' },
  ],
  cells({ metadata, conditions = [] }) {
    const { status = '', message = '', error = '' } = conditions.find(({ type }) => type === healthy) ?? {};
    const words: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' };
    return [metadata.name ?? '', words[status] ?? 'Unknown', message, error];
  },
};

/** Unused: the resource is read-only. */
export const componentStatusStrategy: Strategy<ComponentStatus> = { validateName: nameIsDnsSubdomain };
