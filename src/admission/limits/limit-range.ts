import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import type { Quantity } from '../../machinery/quantity.js';
import { parseAmounts, type Amounts } from '../amounts.js';
import { containersOf } from '../../pods/containers.js';
import { amountsOf, podAmounts, type ResourceSide } from '../pods/pod-requests.js';

type LimitType = 'Container' | 'Pod' | 'PersistentVolumeClaim';

/** The requests and limits of a container, Pod or claim that a LimitRangeItem bounds. */
interface Requested {
  readonly requests: Amounts;
  /** Undefined for claims, which have requests only. */
  readonly limits: Amounts | undefined;
}

function limitsOf({ spec }: LimitRange, type: LimitType): readonly LimitRangeItem[] {
  return (spec?.limits ?? []).filter((limit) => limit.type === type);
}

/** Sets the default requests and limits of containers that lack them. Returns what was set, for an annotation. */
export function setDefaults(pod: Mutable<Pod>, range: LimitRange): string[] {
  const limits = limitsOf(range, 'Container');
  if (limits.length === 0) return [];
  const notes = (list: 'containers' | 'initContainers', word: string) =>
    containersOf(pod.spec ?? {}, [list]).flatMap((container) =>
      (['requests', 'limits'] as const).flatMap((side) => {
        const defaults = limits.flatMap((limit) =>
          Object.entries((side === 'requests' ? limit.defaultRequest : limit.default) ?? {}),
        );
        const names = fillAmounts(container, side, Object.fromEntries(defaults));
        const what = side === 'requests' ? 'request' : 'limit';
        return names.length === 0 ? [] : [`${names.join(', ')} ${what} for ${word} ${container.name ?? ''}`];
      }),
    );
  return [...notes('containers', 'container'), ...notes('initContainers', 'init container')];
}

function fillAmounts(
  container: Mutable<Container>,
  side: ResourceSide,
  defaults: Readonly<Record<string, string>>,
): string[] {
  const present = container.resources?.[side] ?? {};
  const missing = Object.keys(defaults)
    .filter((name) => !Object.hasOwn(present, name))
    .sort();
  if (missing.length === 0) return [];
  const amounts = ((container.resources ??= {})[side] ??= {});
  for (const name of missing) amounts[name] = defaults[name]!;
  return missing;
}

export function podProblems({ spec = {} }: Pod, range: LimitRange): string[] {
  return (range.spec?.limits ?? []).flatMap((limit) => {
    if (limit.type === 'Container') {
      return containersOf(spec, ['containers', 'initContainers']).flatMap((container) =>
        problems(limit, { requests: amountsOf(container, 'requests'), limits: amountsOf(container, 'limits') }),
      );
    }
    if (limit.type !== 'Pod') return [];
    const options = { withOverhead: false };
    return problems(limit, {
      requests: podAmounts(spec, 'requests', options),
      limits: podAmounts(spec, 'limits', options),
    });
  });
}

export function claimProblems({ spec = {} }: PersistentVolumeClaim, range: LimitRange): string[] {
  const requests = amountsOf(spec, 'requests');
  return limitsOf(range, 'PersistentVolumeClaim').flatMap((limit) => problems(limit, { requests, limits: undefined }));
}

function problems({ type = '', min, max, maxLimitRequestRatio }: LimitRangeItem, requested: Requested): string[] {
  const each = (
    bounds: Readonly<Record<string, string>> | undefined,
    rule: (bound: Bound, requested: Requested) => string | undefined,
  ) =>
    [...parseAmounts(bounds)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, amount]) => rule({ type, name, amount }, requested) ?? []);
  return [...each(min, minimumProblem), ...each(max, maximumProblem), ...each(maxLimitRequestRatio, ratioProblem)];
}

interface Bound {
  readonly type: string;
  readonly name: string;
  readonly amount: Quantity;
}

function minimumProblem({ type, name, amount }: Bound, { requests, limits }: Requested): string | undefined {
  const text = `minimum ${name} usage per ${type} is ${amount.toString()}`;
  const request = requests.get(name);
  const limit = limits?.get(name);
  if (!request) return `${text}.  No request is specified`;
  if (request.compare(amount) < 0) return `${text}, but request is ${request.toString()}`;
  if (limit && limit.compare(amount) < 0) return `${text}, but limit is ${limit.toString()}`;
  return undefined;
}

function maximumProblem({ type, name, amount }: Bound, { requests, limits }: Requested): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${amount.toString()}`;
  const request = requests.get(name);
  const limit = limits?.get(name);
  if (limits && !limit) return `${text}.  No limit is specified`;
  if (!limits && !request) return `${text}.  No request is specified`;
  if (limit && limit.compare(amount) > 0) return `${text}, but limit is ${limit.toString()}`;
  if (request && request.compare(amount) > 0) return `${text}, but request is ${request.toString()}`;
  return undefined;
}

function ratioProblem({ type, name, amount }: Bound, { requests, limits }: Requested): string | undefined {
  const text = `${name} max limit to request ratio per ${type} is ${amount.toString()}`;
  const request = requests.get(name);
  const limit = limits?.get(name);
  if (!request || request.isZero) return `${text}, but no request is specified or request is 0`;
  if (!limit || limit.isZero) return `${text}, but no limit is specified or limit is 0`;
  const ratio = limit.toNumber() / request.toNumber();
  return ratio > amount.toNumber() ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
