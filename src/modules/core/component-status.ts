import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';

/** A part of the control plane that this server can ask how it is. */
export interface Component {
  /** `etcd-0` */
  readonly name: string;
  /** Throws when it is not well. */
  readonly check: () => Promise<void>;
}

/** Deprecated, and still asked for: every component with how it is at this moment. */
export function componentStatuses(components: readonly Component[]): Promise<KubeObject[]> {
  return Promise.all(
    components.map(async ({ name, check }) => ({
      kind: 'ComponentStatus',
      apiVersion: 'v1',
      metadata: { name },
      conditions: [await conditionOf(check)],
    })),
  );
}

async function conditionOf(check: Component['check']): Promise<object> {
  try {
    await check();
    return { type: healthy, status: 'True', message: 'ok' };
  } catch (error) {
    return { type: healthy, status: 'False', error: error instanceof Error ? error.message : String(error) };
  }
}

const healthy = 'Healthy';

export const componentStatusTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether it is well.' },
    { name: 'Message', type: 'string', description: 'What it says of itself.' },
    { name: 'Error', type: 'string', description: 'What is wrong with it.' },
  ],
  cells(component) {
    const condition = asFields(asItems(component['conditions']).find(({ type }) => type === healthy));
    const words: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' };
    return [
      component.metadata.name ?? '',
      words[asText(condition['status'])] ?? 'Unknown',
      asText(condition['message']),
      asText(condition['error']),
    ];
  },
};

/** Nothing is ever written. */
export const componentStatusStrategy: Strategy = { validateName: nameIsDnsSubdomain };
