import type { Pod } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';

/**
 * Adds tolerations with tolerationSeconds for nodes that are not ready or unreachable, so that Pods stay for a while.
 * Pods that tolerate such a taint already are not changed.
 */
export const defaultTolerationSeconds = defineAdmissionPlugin({
  name: 'DefaultTolerationSeconds',
  runs: 'by default',
  make({ naming, notReadyTolerationSeconds, unreachableTolerationSeconds }) {
    const taints = [
      { key: naming.label('not-ready', 'node'), seconds: notReadyTolerationSeconds },
      { key: naming.label('unreachable', 'node'), seconds: unreachableTolerationSeconds },
    ];
    return {
      admit(attributes) {
        if (!isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) || !attributes.object) return;
        const pod: Mutable<Pod> = attributes.object;
        const spec = (pod.spec ??= {});
        const tolerations = spec.tolerations ?? [];
        const missing = taints.filter(
          (taint) =>
            !tolerations.some(
              ({ key = '', effect = '' }) => ['', taint.key].includes(key) && ['', 'NoExecute'].includes(effect),
            ),
        );
        if (missing.length === 0) return;
        spec.tolerations = [
          ...tolerations,
          ...missing.map(({ key, seconds }) => ({
            key,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: seconds,
          })),
        ];
      },
    };
  },
});
