import type { Node } from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { changedLabels, foreignLabels } from './node-labels.js';

/** Returns the error if a node writes another Node, or fields of its own that it may not change. */
export function ownNodeProblem(
  { naming }: PluginDependencies,
  attributes: AdmissionAttributes,
  node: string,
): string | undefined {
  const { operation, name: written } = attributes;
  const object: Node | undefined = attributes.object;
  const old: Node | undefined = attributes.old;
  const who = `node ${goQuote(node)} is not allowed to`;
  if (written !== node) return `${who} modify node ${goQuote(written)}`;
  if (!object) return `${who} delete itself`;
  const { configSource } = object.spec ?? {};
  if (configSource !== undefined && !deepEqual(configSource, old?.spec?.configSource))
    return `${who} update configSource`;
  const foreign = foreignLabels(changedLabels(object.metadata.labels, old?.metadata.labels), naming);
  if (operation === 'CREATE') {
    return foreign.length === 0 ? undefined : `${who} set the following labels: ${foreign.join(', ')}`;
  }
  if (!deepEqual(object.spec?.taints ?? [], old?.spec?.taints ?? [])) return `${who} modify taints`;
  if (!deepEqual(object.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
    return `${who} modify ownerReferences`;
  return foreign.length === 0 ? undefined : `${who} modify labels: ${foreign.join(', ')}`;
}
