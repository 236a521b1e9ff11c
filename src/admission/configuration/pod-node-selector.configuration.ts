import { nodeSelectorProblem, parseNodeSelector } from '../pods/node-selector.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

export interface NodeSelectorConfiguration {
  /** Added to new Pods of namespaces without an annotation. */
  readonly clusterDefault: ReadonlyMap<string, string>;
  /** The labels that node selectors of Pods may have, by namespace. */
  readonly allowed: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export const plainNodeSelectors: NodeSelectorConfiguration = { clusterDefault: new Map(), allowed: new Map() };

const field = 'podNodeSelectorPluginConfig';
const clusterDefaultName = 'clusterDefaultNodeSelector';

/** Reads `podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: a=b, my-namespace: 'c=d,e=f' }`. */
export function readNodeSelectors(config: ConfigReader): NodeSelectorConfiguration {
  const texts = config.allowOnly(field).mapping(field);
  const selectors = new Map<string, ReadonlyMap<string, string>>();
  for (const name of texts.names()) {
    const text = texts.string(name);
    if (text === undefined) continue;
    const problem = nodeSelectorProblem(text);
    if (problem !== undefined) texts.addProblem(name, problem);
    selectors.set(name, parseNodeSelector(text));
  }
  const clusterDefault = selectors.get(clusterDefaultName) ?? plainNodeSelectors.clusterDefault;
  selectors.delete(clusterDefaultName);
  return { clusterDefault, allowed: selectors };
}
