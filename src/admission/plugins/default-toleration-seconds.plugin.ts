import { defineAdmissionPlugin } from '../admission-plugin.js';
import { changeableSpecOf, onlyPods, writtenPodOf } from '../matching.js';

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
      resources: onlyPods,
      actsOnUnchanged: () => false,
      admit(attributes) {
        const pod = writtenPodOf(attributes);
        if (!pod) return;
        const spec = changeableSpecOf(pod);
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
