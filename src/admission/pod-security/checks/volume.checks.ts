import type { Volume } from '../../../catalog/types/core.v1.js';
import type { Check } from '../check.js';
import { distinct, plural, quoted } from '../text.js';

const allowedSources = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const;

/** Allows volumes that belong to the Pod, and storage that an administrator provides through claims or CSI drivers. */
export const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  rules: [
    {
      since: 0,
      replaces: ['hostPathVolumes'],
      rule({ spec: { volumes = [] } }) {
        const bad = volumes.filter((volume) => !allowedSources.some((source) => volume[source] !== undefined));
        if (bad.length === 0) return undefined;
        const names = bad.map(({ name = '' }) => name);
        const types = distinct(bad.map(sourceOf));
        const what = plural('restricted volume type', 'restricted volume types', types.length);
        return {
          reason: 'restricted volume types',
          detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)} ${plural('uses', 'use', names.length)} ${what} ${quoted(types)}`,
        };
      },
    },
  ],
};

function sourceOf({ name: _name, ...sources }: Volume): string {
  return Object.entries(sources).find(([, value]) => value !== undefined)?.[0] ?? 'unknown';
}
