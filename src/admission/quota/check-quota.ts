import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { only, readAmounts, shownAmounts, sumOf, type Amounts } from '../amounts.js';
import type { Evaluator } from './evaluator.js';
import { scopesOf } from './scopes.js';

export interface QuotaView {
  readonly name: string;
  readonly hard: Amounts;
  readonly used: Amounts;
}

/** As its status says: limits count from the moment that what is used is known. */
export function viewOfQuota(quota: KubeObject): QuotaView {
  const status = asFields(quota['status']);
  return { name: quota.metadata.name ?? '', hard: readAmounts(status['hard']), used: readAmounts(status['used']) };
}

/** Whether the quota has a say in the object: one of its limits is about the resource, and all its scopes hold. */
export function concerns(quota: KubeObject, evaluator: Evaluator, object: KubeObject): boolean {
  const { hard } = viewOfQuota(quota);
  return (
    [...hard.keys()].some((name) => evaluator.counts(name)) &&
    scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object))
  );
}

/** Names of limits that the resource has a part in. */
export function limitedNames({ hard }: QuotaView, evaluator: Evaluator): Set<string> {
  return new Set([...hard.keys()].filter((name) => evaluator.counts(name)));
}

/** Why the object cannot be counted against the quota, whatever it takes. */
export function uncountable(quota: KubeObject, evaluator: Evaluator, object: KubeObject): string | undefined {
  const view = viewOfQuota(quota);
  const names = limitedNames(view, evaluator);
  const missing = evaluator.missing?.(object, names);
  if (missing !== undefined) return `failed quota: ${view.name}: ${missing}`;
  if ([...names].every((name) => view.used.has(name))) return undefined;
  return `status unknown for quota: ${view.name}, resources: ${[...names].sort().join(',')}`;
}

export type Verdict = { readonly refusal: string } | { readonly used: Amounts } | 'unchanged';

/** What is used when `delta` comes on top, or why it is too much. What gets less is never too much. */
export function withDelta(quota: KubeObject, delta: Amounts): Verdict {
  const { name, hard, used } = viewOfQuota(quota);
  const requested = only(delta, hard);
  if (requested.size === 0) return 'unchanged';
  const next = sumOf(used, requested);
  const exceeded = new Set(
    [...requested]
      .filter(([what, amount]) => amount.sign > 0 && next.get(what)!.compare(hard.get(what)!) > 0)
      .map(([what]) => what),
  );
  if (exceeded.size === 0) return { used: next };
  const shown = (amounts: Amounts) => shownAmounts(only(amounts, exceeded));
  return {
    refusal: `exceeded quota: ${name}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(hard)}`,
  };
}
