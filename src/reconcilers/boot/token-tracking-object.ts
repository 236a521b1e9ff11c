import type { ServerConfig } from '../../config/server-config.js';
import { asFields, asText } from '../../machinery/fields.js';
import { objectTime } from '../../registry/write/system-fields.js';
import type { BootObject } from './ensure-object.js';

/**
 * Since which day the use of tokens in Secrets could be noted: who clears away unused ones must not take a silence from
 * before for one. The day of the first server stays.
 */
export function tokenTracking({ naming }: ServerConfig, nowMs: number): BootObject {
  const name = naming.systemName('apiserver-legacy-service-account-token-tracking');
  return {
    resource: 'configmaps',
    keeps: ['data'],
    isLeftAlone: (current) => isDay(asText(asFields(current['data'])['since'])),
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: naming.systemNamespace('system') },
      data: { since: dayOf(nowMs) },
    },
  };
}

function dayOf(timeMs: number): string {
  return objectTime(timeMs).slice(0, 10);
}

/** 2026-02-30 is none: Date would take it for a day of March. */
function isDay(text: string): boolean {
  const timeMs = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(timeMs) && dayOf(timeMs) === text;
}
