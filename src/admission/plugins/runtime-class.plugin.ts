import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asItems, asText, asTextMap, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { noAmounts, readAmounts, sameAmounts } from '../amounts.js';
import { newPodOf } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import { mergeTolerations } from '../pods/tolerations.js';
import { forbid } from '../refusal.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/** A Pod takes over what its runtime class costs on top, and where nodes are that can run it. */
export function runtimeClass({ objects, naming }: Parts): AdmissionPlugin {
  const classes = { group: naming.group('node'), resource: 'runtimeclasses' };

  async function classOf(attributes: AdmissionAttributes, pod: KubeObject): Promise<KubeObject | undefined> {
    const name = asText(asFields(pod['spec'])['runtimeClassName']);
    if (name === '') return undefined;
    const found = await find(objects, classes, '', name, attributes.request.signal);
    if (!found) throw forbid(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`);
    return found;
  }

  return {
    name: 'RuntimeClass',
    async admit(attributes) {
      const pod = newPodOf(attributes);
      const found = pod && (await classOf(attributes, pod));
      if (!found) return;
      const spec = makeFields(pod, 'spec');
      const fixed = asFields(found['overhead'])['podFixed'];
      if (found['overhead'] !== undefined) {
        const given = readAmounts(spec['overhead']);
        if (given.size > 0 && !sameAmounts(given, readAmounts(fixed))) throw forbid(attributes, otherOverhead);
        if (fixed !== undefined) spec['overhead'] = structuredClone(fixed);
      }
      const { nodeSelector, tolerations } = asFields(found['scheduling']);
      mergeNodeSelector(attributes, spec, nodeSelector);
      if (asItems(tolerations).length > 0) {
        spec['tolerations'] = mergeTolerations(structuredClone(tolerations), spec['tolerations']);
      }
    },
    async validate(attributes) {
      const pod = newPodOf(attributes);
      if (!pod) return;
      const found = await classOf(attributes, pod);
      const overhead = readAmounts(asFields(pod['spec'])['overhead']);
      const isFixed = found?.['overhead'] !== undefined;
      const fixed = isFixed ? readAmounts(asFields(found['overhead'])['podFixed']) : noAmounts;
      if (sameAmounts(overhead, fixed)) return;
      throw forbid(
        attributes,
        isFixed ? otherOverhead : 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      );
    },
  };
}

const otherOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function mergeNodeSelector(attributes: AdmissionAttributes, spec: Record<string, unknown>, selector: unknown): void {
  const wanted = asTextMap(selector);
  if (wanted.length === 0) return;
  const own = makeFields(spec, 'nodeSelector');
  for (const [key, value] of wanted) {
    if (Object.hasOwn(own, key) && own[key] !== value) {
      throw forbid(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${String(own[key])}`,
      );
    }
    own[key] = value;
  }
}
