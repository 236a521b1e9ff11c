import type { Node } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';

/** Taints new Nodes as not ready, so that no Pods are scheduled to them before the kubelet reports readiness. */
export const taintNodesByCondition = defineAdmissionPlugin({
  name: 'TaintNodesByCondition',
  runs: 'by default',
  make({ naming }) {
    const notReady = { key: naming.label('not-ready', 'node'), effect: 'NoSchedule' };
    return {
      resources: [{ group: '', resource: 'nodes' }],
      actsOnUnchanged: () => false,
      admit(attributes) {
        if (!isAbout(attributes, '', 'nodes', ['CREATE']) || !attributes.object) return;
        const node: Mutable<Node> = attributes.object;
        const spec = (node.spec ??= {});
        const taints = spec.taints ?? [];
        if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return;
        spec.taints = [...taints, { ...notReady }];
      },
    };
  },
});
