import type { PodSpec } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';

/** Parses the labels of `a=b,c=d`. */
export function parseNodeSelector(text: string): Map<string, string> {
  return new Map(
    pairsOf(text).flatMap(([key = '', value]) => (key === '' || value === undefined ? [] : [[key, value] as const])),
  );
}

/** Returns the problem of a text that parseNodeSelector() would not read as a whole. */
export function nodeSelectorProblem(text: string): string | undefined {
  const isPair = ([key = '', ...values]: readonly string[]) => key !== '' && values.length === 1;
  return text.trim() === '' || pairsOf(text).every(isPair) ? undefined : 'must be labels like "a=b,c=d"';
}

const pairsOf = (text: string) => text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));

/** A label that a Pod has with another value than the one to be merged. */
interface LabelConflict {
  readonly key: string;
  readonly wanted: string;
  readonly own: string;
}

/** Adds labels to the node selector of a Pod. Stops at the first conflict and returns it. */
export function mergeNodeSelector(
  spec: Mutable<PodSpec>,
  labels: Iterable<readonly [string, string]>,
): LabelConflict | undefined {
  let nodeSelector = spec.nodeSelector;
  for (const [key, wanted] of labels) {
    nodeSelector ??= spec.nodeSelector = {};
    const own = Object.hasOwn(nodeSelector, key) ? nodeSelector[key]! : wanted;
    if (own !== wanted) return { key, wanted, own };
    nodeSelector[key] = wanted;
  }
  return undefined;
}
