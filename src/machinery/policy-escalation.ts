import { goQuote } from './field-error.js';
import { urlMatches, type PolicyRule } from './policy-rule.js';

/** The roles that clusters begin with come to a thousand; each piece is compared with all that the user holds. */
const piecesMax = 20_000;

/**
 * What of the rules nobody of those who hold `held` could do: whoever gives rights to others must have them. Rules are
 * taken apart into their smallest pieces, each of which one held rule must cover; what is left is put together again.
 * Undefined where they come to more pieces than can be compared: four short lists make any number of them.
 */
export function missingRules(wanted: readonly PolicyRule[], held: readonly PolicyRule[]): PolicyRule[] | undefined {
  const open = wanted.filter((rule) => !held.some((one) => covers(one, rule)));
  if (open.reduce((sum, rule) => sum + pieceCount(rule), 0) > piecesMax) return undefined;
  return compacted(
    open.flatMap((rule) => [...piecesOf(rule)]).filter((piece) => !held.some((rule) => covers(rule, piece))),
  );
}

function pieceCount({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const things = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (things + nonResourceURLs.length);
}

/** A rule of one verb for one thing. */
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

/** Whether one held rule alone grants all that another does. */
function covers(held: PolicyRule, wanted: PolicyRule): boolean {
  const all = (names: readonly string[], wantedNames: readonly string[]) =>
    names.includes('*') || wantedNames.every((name) => names.includes(name));
  return (
    all(held.verbs, wanted.verbs) &&
    wanted.nonResourceURLs.every((url) => held.nonResourceURLs.some((named) => urlMatches(named, url))) &&
    (wanted.resources.length === 0 ||
      (all(held.apiGroups, wanted.apiGroups) &&
        wanted.resources.every((resource) => held.resources.some((named) => resourceCovers(named, resource))) &&
        coversNames(held.resourceNames, wanted.resourceNames)))
  );
}

/** None are all. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  return held.length === 0 || (wanted.length > 0 && wanted.every((name) => held.includes(name)));
}

function resourceCovers(named: string, resource: string): boolean {
  if (named === '*' || named === resource) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && named === `*${resource.slice(slash)}`;
}

/** Rules without names that are about the same thing become one with all their verbs. */
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
