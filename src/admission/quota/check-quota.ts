import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { formatAmounts, parseAmounts, pickAmounts, sumOf, type Amounts } from '../amounts.js';
import type { Evaluator } from './evaluator.js';
import { scopesOf } from './scopes.js';

interface QuotaView {
  readonly name: string;
  readonly hard: Amounts;
  readonly used: Amounts;
}

/** The views of quotas that were read before. An object that has been read is not changed. */
const views = new WeakMap<ResourceQuota, QuotaView>();

/** Reads hard and used from the status: a limit applies only after its usage has been counted. */
export function viewOfQuota(quota: ResourceQuota): QuotaView {
  const known = views.get(quota);
  if (known) return known;
  const { metadata, status = {} } = quota;
  const view = { name: metadata.name ?? '', hard: parseAmounts(status.hard), used: parseAmounts(status.used) };
  views.set(quota, view);
  return view;
}

/** True if the quota limits a name that the evaluator counts, and if all its scopes match the object. */
export function quotaMatches(quota: ResourceQuota, evaluator: Evaluator, object: KubeObject): boolean {
  const { hard } = viewOfQuota(quota);
  return (
    [...hard.keys()].some((name) => evaluator.counts(name)) &&
    scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object))
  );
}

/** Returns the limited names that the evaluator counts. */
export function limitedNames({ hard }: QuotaView, evaluator: Evaluator): Set<string> {
  return new Set([...hard.keys()].filter((name) => evaluator.counts(name)));
}

/** Returns the error if the object cannot be counted: it lacks a request or limit, or the usage is not known yet. */
export function uncountableProblem(quota: ResourceQuota, evaluator: Evaluator, object: KubeObject): string | undefined {
  const view = viewOfQuota(quota);
  const names = limitedNames(view, evaluator);
  const missing = evaluator.missing?.(object, names);
  if (missing !== undefined) return `failed quota: ${view.name}: ${missing}`;
  if ([...names].every((name) => view.used.has(name))) return undefined;
  return `status unknown for quota: ${view.name}, resources: ${[...names].sort().join(',')}`;
}

type Verdict = { readonly refusal: string } | { readonly used: Amounts } | 'unchanged';

/** Adds `delta` to the usage, or refuses if that exceeds a limit. An amount that does not grow never exceeds it. */
export function addUsage(quota: ResourceQuota, delta: Amounts): Verdict {
  const { name, hard, used } = viewOfQuota(quota);
  const requested = pickAmounts(delta, hard);
  if (requested.size === 0) return 'unchanged';
  const next = sumOf(used, requested);
  const exceeded = new Set(
    [...requested]
      .filter(([resource, amount]) => amount.sign > 0 && next.get(resource)!.compare(hard.get(resource)!) > 0)
      .map(([resource]) => resource),
  );
  if (exceeded.size === 0) return { used: next };
  const format = (amounts: Amounts) => formatAmounts(pickAmounts(amounts, exceeded));
  return {
    refusal: `exceeded quota: ${name}, requested: ${format(requested)}, used: ${format(used)}, limited: ${format(hard)}`,
  };
}
