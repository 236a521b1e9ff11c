import { countValues } from '../../machinery/count-values.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields, asItems, type Fields } from '../../machinery/fields.js';
import type { JsonValue, KubeObject } from '../../machinery/kube-object.js';
import { labelSelectorOf, type LabelSelectorObject, type Labels } from '../../machinery/label-selector.js';
import { distinctValues, valueKey } from '../../machinery/value-key.js';
import type { YieldTimer } from '../../std/yield-timer.js';

/** A ClusterRole of the cache: its rules are parsed only if a selector chooses it. */
export interface StoredRole {
  readonly attributes: { readonly name: string; readonly labels: Labels | undefined };
  parse(): KubeObject;
}

export interface GatherLimits {
  /** Objects, lists and scalars of the gathered rules: more than a request may send is not gathered. */
  readonly valuesMax: number;
  /** Lets other requests run between two selectors and between two roles. */
  readonly timer: YieldTimer;
}

/** Work of which each step is short; the caller says between two of them whether other requests run. */
type Steps<T> = Generator<void, T, void>;

export function gathersRules(role: KubeObject): boolean {
  return selectorsOf(role).length > 0;
}

/**
 * Returns the rules of all roles that a selector of this one chooses, in the order of selectors and then of names, each
 * rule once; undefined if they are more than the limit. A role never gathers its own rules: it could not lose one again.
 */
export async function gatherRules(
  role: KubeObject,
  all: readonly StoredRole[],
  { valuesMax, timer }: GatherLimits,
): Promise<Fields[] | undefined> {
  const steps = gatherInSteps(role, all, valuesMax);
  let step = steps.next();
  while (!step.done) {
    if (timer.isDue()) await timer.yield();
    step = steps.next();
  }
  return step.value;
}

/** As gatherRules, for the few roles that every cluster begins with. */
export function gatherRulesNow(role: KubeObject, all: readonly StoredRole[]): Fields[] {
  const steps = gatherInSteps(role, all, Infinity);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value!;
  }
}

function* gatherInSteps(role: KubeObject, all: readonly StoredRole[], valuesMax: number): Steps<Fields[] | undefined> {
  const rules = new Map<string, Fields>();
  let values = 0;
  for (const lender of yield* chooseRoles(role, all)) {
    for (const rule of asItems(lender.parse()['rules'])) {
      const key = valueKey(rule);
      if (rules.has(key)) continue;
      values += countValues(rule as JsonValue, valuesMax);
      if (values > valuesMax) return undefined;
      rules.set(key, rule);
    }
    yield;
  }
  return [...rules.values()];
}

/** Returns the role with these rules: the same object if it has them. */
export function withRules(role: KubeObject, rules: readonly Fields[]): KubeObject {
  return deepEqual(rules, asItems(role['rules'])) ? role : { ...role, rules };
}

/** Compares each selector once, and with roles that no earlier selector has chosen. */
function* chooseRoles(role: KubeObject, all: readonly StoredRole[]): Steps<StoredRole[]> {
  const chosen: StoredRole[] = [];
  let others = all.filter(({ attributes }) => attributes.name !== role.metadata.name).sort(byName);
  for (const object of distinctValues(selectorsOf(role))) {
    if (others.length === 0) break;
    const selector = labelSelectorOf(object);
    const rest: StoredRole[] = [];
    for (const other of others) (selector.matches(other.attributes.labels) ? chosen : rest).push(other);
    others = rest;
    yield;
  }
  return chosen;
}

function selectorsOf(role: KubeObject): LabelSelectorObject[] {
  return asItems(asFields(role['aggregationRule'])['clusterRoleSelectors']);
}

const byName = ({ attributes: { name: a } }: StoredRole, { attributes: { name: b } }: StoredRole): number =>
  a < b ? -1 : a > b ? 1 : 0;
