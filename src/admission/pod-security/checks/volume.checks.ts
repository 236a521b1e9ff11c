import { asItems, asText, isSet } from '../../../machinery/fields.js';
import type { Check } from '../check.js';
import { plural, quoted, sorted } from '../text.js';

const harmless = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/** Volumes that are not of the Pod alone, or are not handed out by somebody who decides who gets them. */
export const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  rules: [
    {
      since: 0,
      replaces: ['hostPathVolumes'],
      rule({ spec }) {
        const bad = asItems(spec['volumes']).filter((volume) => !harmless.some((source) => isSet(volume[source])));
        if (bad.length === 0) return undefined;
        const names = bad.map(({ name }) => asText(name));
        const types = sorted(
          bad.map((volume) => Object.keys(volume).find((key) => key !== 'name' && isSet(volume[key])) ?? 'unknown'),
        );
        const what = plural('restricted volume type', 'restricted volume types', types.length);
        return {
          reason: 'restricted volume types',
          detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)} ${plural('uses', 'use', names.length)} ${what} ${quoted(types)}`,
        };
      },
    },
  ],
};
