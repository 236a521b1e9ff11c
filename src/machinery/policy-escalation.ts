import { goQuote } from './field-error.js';
import { urlMatches, type PolicyRule } from './policy-rule.js';

/**
 * What of the rules nobody of those who hold `held` could do: whoever gives rights to others must have them. Rules are
 * taken apart into their smallest pieces, each of which one held rule must cover; what is left is put together again.
 */
export function missingRules(wanted: readonly PolicyRule[], held: readonly PolicyRule[]): PolicyRule[] {
  return compacted(
    wanted.flatMap((rule) => [...piecesOf(rule)]).filter((piece) => !held.some((rule) => covers(rule, piece))),
  );
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

function covers(rule: PolicyRule, piece: PolicyRule): boolean {
  const [verb, group, resource, name, url] = [
    piece.verbs[0]!,
    piece.apiGroups[0],
    piece.resources[0],
    piece.resourceNames[0],
    piece.nonResourceURLs[0],
  ];
  if (!rule.verbs.includes('*') && !rule.verbs.includes(verb)) return false;
  if (url !== undefined) return rule.nonResourceURLs.some((named) => urlMatches(named, url));
  return (
    (rule.apiGroups.includes('*') || rule.apiGroups.includes(group!)) &&
    rule.resources.some((named) => resourceCovers(named, resource!)) &&
    (rule.resourceNames.length === 0 || (name !== undefined && rule.resourceNames.includes(name)))
  );
}

function resourceCovers(named: string, resource: string): boolean {
  if (named === '*' || named === resource) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && named === `*${resource.slice(slash)}`;
}

/** Rules without names that are about the same thing become one with all their verbs. */
function compacted(rules: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.resourceNames.length > 0 || rule.nonResourceURLs.length > 0) {
      others.push(rule);
      continue;
    }
    const key = `${rule.apiGroups[0]}/${rule.resources[0]}`;
    const before = simple.get(key);
    simple.set(key, before ? { ...before, verbs: [...before.verbs, ...rule.verbs] } : rule);
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
