import { goQuote } from './field-error.js';
import { urlMatches, type PolicyRule } from './policy-rule.js';

/** Bounds the number of rule pieces. All default roles together have about a thousand. */
const piecesMax = 20_000;

/**
 * Returns the part of the rules `wanted` that none of the rules `held` covers, to prevent privilege escalation. Rules
 * are split into the smallest pieces, each of which one held rule must cover; uncovered pieces are merged again.
 * Returns undefined if there are too many pieces to compare.
 */
export function missingRules(wanted: readonly PolicyRule[], held: readonly PolicyRule[]): PolicyRule[] | undefined {
  const comparison = new Comparison();
  const isOpen = (rule: PolicyRule) => !comparison.isSpent && !held.some((one) => comparison.covers(one, rule));
  const open = wanted.filter(isOpen);
  if (open.reduce((sum, rule) => sum + pieceCount(rule), 0) > piecesMax) return undefined;
  const missing = open.flatMap((rule) => [...piecesOf(rule)]).filter(isOpen);
  return comparison.isSpent ? undefined : compacted(missing);
}

function pieceCount({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const things = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (things + nonResourceURLs.length);
}

/** Splits a rule into rules of one verb for one resource or URL. */
function* piecesOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Generator<PolicyRule> {
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const piece = { ...nothing, verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield piece;
        for (const name of resourceNames) yield { ...piece, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs)
    for (const verb of verbs) yield { ...nothing, verbs: [verb], nonResourceURLs: [url] };
}

const nothing: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

/** Bounds the number of compared names: about 0.1 s. Roles of thousands of rules need a hundred thousand. */
const stepsMax = 5_000_000;

/** Compares rules up to stepsMax. Results are meaningless once `isSpent` is true. */
class Comparison {
  private steps = 0;

  get isSpent(): boolean {
    return this.steps > stepsMax;
  }

  /** True if rule `held` grants everything that rule `wanted` does. */
  covers(held: PolicyRule, wanted: PolicyRule): boolean {
    this.steps++;
    return (
      this.hasAll(held.verbs, wanted.verbs) &&
      this.every(wanted.nonResourceURLs, (url) => this.hasUrl(held.nonResourceURLs, url)) &&
      (wanted.resources.length === 0 ||
        (this.hasAll(held.apiGroups, wanted.apiGroups) &&
          this.every(wanted.resources, (resource) => hasResource(held.resources, resource)) &&
          this.coversNames(held.resourceNames, wanted.resourceNames)))
    );
  }

  private hasAll(held: readonly string[], wanted: readonly string[]): boolean {
    return has(held, '*') || this.every(wanted, (name) => has(held, name));
  }

  /** An empty list of names grants all names. */
  private coversNames(held: readonly string[], wanted: readonly string[]): boolean {
    return held.length === 0 || (wanted.length > 0 && this.every(wanted, (name) => has(held, name)));
  }

  private hasUrl(held: readonly string[], url: string): boolean {
    if (has(held, url)) return true;
    this.steps += held.length;
    return !this.isSpent && held.some((named) => urlMatches(named, url));
  }

  private every(wanted: readonly string[], isHeld: (name: string) => boolean): boolean {
    return wanted.every((name) => {
      this.steps++;
      return !this.isSpent && isHeld(name);
    });
  }
}

function hasResource(held: readonly string[], resource: string): boolean {
  if (has(held, '*') || has(held, resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && has(held, `*${resource.slice(slash)}`);
}

/** Longer lists are looked up in a set, which is created once. */
const shortListMax = 16;
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

function has(names: readonly string[], name: string): boolean {
  if (names.length <= shortListMax) return names.includes(name);
  let set = sets.get(names);
  if (!set) sets.set(names, (set = new Set(names)));
  return set.has(name);
}

/** Merges rules for the same resource, without resourceNames, into one with all their verbs. */
function compacted(rules: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, PolicyRule & { verbs: string[] }>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.resourceNames.length > 0 || rule.nonResourceURLs.length > 0) {
      others.push(rule);
      continue;
    }
    const key = `${rule.apiGroups[0]}/${rule.resources[0]}`;
    const before = simple.get(key);
    if (before) before.verbs.push(...rule.verbs);
    else simple.set(key, { ...rule, verbs: [...rule.verbs] });
  }
  return [...others, ...simple.values()];
}

/** `{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}` */
export function shownRule(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  const shown = parts.filter(([, values]) => values.length > 0).map(([name, values]) => `${name}:${shownList(values)}`);
  return `{${shown.join(', ')}}`;
}

export const shownList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;
