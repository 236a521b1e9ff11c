import type { MatchResources, RuleWithOperations } from '../../catalog/types/admissionregistration.v1.js';
import type { Mutable } from '../../machinery/mutable.js';

type Match = Mutable<Pick<MatchResources, 'matchPolicy' | 'namespaceSelector' | 'objectSelector'>>;
type Rules = Mutable<RuleWithOperations>[] | undefined;

/** Sets the defaults that select requests for a webhook or a policy: all requests that match one of the rules. */
export function defaultMatch(match: Match, ...ruleLists: readonly Rules[]): void {
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rules of ruleLists) for (const rule of rules ?? []) rule.scope ??= '*';
}

export function defaultMatchResources(match: Mutable<MatchResources> | undefined): void {
  if (match) defaultMatch(match, match.resourceRules, match.excludeResourceRules);
}
