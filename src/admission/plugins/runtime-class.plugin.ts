import type { Pod } from '../../catalog/types/core.v1.js';
import type { RuntimeClass } from '../../catalog/types/node.v1.js';
import { goQuote } from '../../machinery/field-error.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { noAmounts, parseAmounts, sameAmounts } from '../amounts.js';
import { newPodOf, onlyPods } from '../matching.js';
import { find } from '../object-reader.js';
import { mergeNodeSelector } from '../pods/node-selector.js';
import { mergeTolerations } from '../pods/tolerations.js';
import { forbid } from '../refusal.js';

/** Sets overhead, node selector and tolerations of new Pods from their RuntimeClass. */
export const runtimeClass = defineAdmissionPlugin({
  name: 'RuntimeClass',
  runs: 'by default',
  make({ objects, naming }) {
    const classes = { group: naming.group('node'), resource: 'runtimeclasses' };

    async function classOf(attributes: AdmissionAttributes, { spec }: Pod): Promise<RuntimeClass | undefined> {
      const name = spec?.runtimeClassName ?? '';
      if (name === '') return undefined;
      const found = await find(objects, classes, '', name, attributes.request.signal);
      if (!found) throw forbid(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`);
      return found;
    }

    return {
      resources: onlyPods,
      actsOnUnchanged: () => false,
      async admit(attributes) {
        const pod = newPodOf(attributes);
        const found = pod && (await classOf(attributes, pod));
        if (!found) return;
        const spec = (pod.spec ??= {});
        if (found.overhead !== undefined) {
          const { podFixed } = found.overhead;
          const overhead = parseAmounts(spec.overhead);
          if (overhead.size > 0 && !sameAmounts(overhead, parseAmounts(podFixed))) {
            throw forbid(attributes, otherOverhead);
          }
          if (podFixed !== undefined) spec.overhead = structuredClone(podFixed);
        }
        const { nodeSelector = {}, tolerations = [] } = found.scheduling ?? {};
        const conflict = mergeNodeSelector(spec, Object.entries(nodeSelector));
        if (conflict) {
          const { key, wanted, own } = conflict;
          throw forbid(
            attributes,
            `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${wanted}; pod.spec.nodeSelector[${key}] = ${own}`,
          );
        }
        if (tolerations.length > 0) {
          spec.tolerations = mergeTolerations(structuredClone(tolerations), spec.tolerations);
        }
      },
      async validate(attributes) {
        const pod = newPodOf(attributes);
        if (!pod) return;
        const found = await classOf(attributes, pod);
        const overhead = parseAmounts(pod.spec?.overhead);
        const fixed = found?.overhead ? parseAmounts(found.overhead.podFixed) : noAmounts;
        if (sameAmounts(overhead, fixed)) return;
        throw forbid(
          attributes,
          found?.overhead
            ? otherOverhead
            : 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        );
      },
    };
  },
});

const otherOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
