import type { Toleration } from '../../catalog/types/core.v1.js';
import { decodeJson } from '../../codec/json.js';
import { asItems, isSet } from '../../machinery/fields.js';
import { isInt64 } from '../../machinery/int64.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { changeableSpecOf, onlyPods, writtenPodOf } from '../matching.js';
import { find } from '../object-reader.js';
import { covers, mergeTolerations } from '../pods/tolerations.js';
import { isBestEffort } from '../quota/scopes.js';
import { forbid } from '../refusal.js';

const namespaces = { group: '', resource: 'namespaces' };

/**
 * Adds the default tolerations of a namespace to new Pods, and refuses tolerations that the whitelist of the namespace
 * does not cover. Both are in annotations of the namespace, or else in the configuration.
 */
export const podTolerationRestriction = defineAdmissionPlugin({
  name: 'PodTolerationRestriction',
  runs: 'if enabled',
  make({ objects, naming, configuration }) {
    const configured = configuration.tolerations;
    const annotations = {
      default: naming.label('defaultTolerations', 'scheduler.alpha'),
      whitelist: naming.label('tolerationsWhitelist', 'scheduler.alpha'),
    };
    const pressure = { key: naming.label('memory-pressure', 'node'), operator: 'Exists', effect: 'NoSchedule' };

    async function tolerationsFor(
      attributes: AdmissionAttributes,
      list: keyof typeof annotations,
    ): Promise<readonly Toleration[]> {
      const { namespace, request } = attributes;
      const found = await find(objects, namespaces, '', namespace, request.signal);
      const text = found?.metadata.annotations?.[annotations[list]];
      if (text === undefined) return structuredClone(configured[list]);
      const tolerations = parseTolerations(text);
      if (tolerations) return tolerations;
      throw forbid(attributes, `the annotation ${annotations[list]} of the namespace is not a list of tolerations`);
    }

    return {
      resources: onlyPods,
      async admit(attributes) {
        const pod = writtenPodOf(attributes);
        if (!pod) return;
        const spec = changeableSpecOf(pod);
        const defaults = attributes.operation === 'CREATE' ? await tolerationsFor(attributes, 'default') : [];
        // Pods with requests or limits stay on nodes under memory pressure; best-effort Pods do not.
        const robust = isBestEffort(spec) ? [] : [{ ...pressure }];
        if (defaults.length + robust.length === 0) return;
        const tolerations = defaults.length === 0 ? spec.tolerations : mergeTolerations(defaults, spec.tolerations);
        spec.tolerations = robust.length === 0 ? tolerations : mergeTolerations(tolerations, robust);
      },
      async validate(attributes) {
        const pod = writtenPodOf(attributes);
        if (!pod) return;
        const allowed = await tolerationsFor(attributes, 'whitelist');
        if (allowed.length === 0) return;
        const tolerations = pod.spec?.tolerations ?? [];
        if (tolerations.every((toleration) => allowed.some((wide) => covers(wide, toleration)))) return;
        const why =
          'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';
        throw forbid(attributes, why);
      },
    };
  },
});

/** Returns undefined if the text is not a list of tolerations in JSON; an empty text and null are empty lists. */
function parseTolerations(text: string): readonly Toleration[] | undefined {
  if (text === '') return [];
  try {
    const list = decodeJson(text);
    if (list !== null && !Array.isArray(list)) return undefined;
    const tolerations = asItems(list).map(({ tolerationSeconds: seconds, ...toleration }: Toleration) =>
      isSet(seconds) ? { ...toleration, tolerationSeconds: seconds } : toleration,
    );
    const hasValidSeconds = ({ tolerationSeconds: seconds }: Toleration) => seconds === undefined || isInt64(seconds);
    return tolerations.every(hasValidSeconds) ? tolerations : undefined;
  } catch {
    return undefined;
  }
}
