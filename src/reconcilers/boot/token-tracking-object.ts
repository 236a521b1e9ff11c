import type { ConfigMap } from '../../catalog/types/core.v1.js';
import { dayOf } from '../../auth/token-uses.js';
import type { ServerConfig } from '../../config/server-config.js';
import type { BootObject } from './ensure-object.js';

/**
 * The ConfigMap with the day since which the use of legacy service account tokens is tracked. The controller that deletes
 * unused tokens must not count earlier days. The day that the first server wrote stays.
 */
export function tokenTracking({ naming }: ServerConfig, nowMs: number): BootObject {
  const name = naming.systemName('apiserver-legacy-service-account-token-tracking');
  return {
    resource: 'configmaps',
    keeps: ['data'],
    isLeftAlone: ({ data }: ConfigMap) => isDay(data?.['since'] ?? ''),
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: naming.systemNamespace('system') },
      data: { since: dayOf(nowMs) },
    },
  };
}

/** False for 2026-02-30, which Date.parse would read as a day of March. */
function isDay(text: string): boolean {
  const timeMs = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(timeMs) && dayOf(timeMs) === text;
}
