import { asFields, asItems, asText, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Quantity } from '../../machinery/quantity.js';
import { readAmounts, type Amounts } from '../amounts.js';
import { containersOf } from '../pods/containers.js';
import { amountsOf, podAmounts } from '../pods/pod-requests.js';

type LimitType = 'Container' | 'Pod' | 'PersistentVolumeClaim';

/** What one limit bounds: the amounts that somebody asks for, and those that must not be passed. */
interface Asked {
  readonly requests: Amounts;
  /** Undefined where only requests mean anything. */
  readonly limits: Amounts | undefined;
}

export function limitsOf(range: KubeObject, type: LimitType): Fields[] {
  return asItems(asFields(range['spec'])['limits']).filter((limit) => limit['type'] === type);
}

/** Gives containers what they do not say themselves. Returns what was set, for people to read. */
export function setDefaults(pod: KubeObject, range: KubeObject): string[] {
  const limits = limitsOf(range, 'Container');
  if (limits.length === 0) return [];
  const spec = asFields(pod['spec']);
  const notes = (list: 'containers' | 'initContainers', word: string) =>
    containersOf(spec, [list]).flatMap((container) =>
      (['requests', 'limits'] as const).flatMap((side) => {
        const defaults = Object.assign(
          {},
          ...limits.map((limit) => asFields(limit[side === 'requests' ? 'defaultRequest' : 'default'])),
        ) as Fields;
        const names = fillAmounts(container, side, defaults);
        const what = side === 'requests' ? 'request' : 'limit';
        return names.length === 0 ? [] : [`${names.join(', ')} ${what} for ${word} ${asText(container['name'])}`];
      }),
    );
  return [...notes('containers', 'container'), ...notes('initContainers', 'init container')];
}

function fillAmounts(container: Fields, side: 'requests' | 'limits', defaults: Fields): string[] {
  const given = asFields(asFields(container['resources'])[side]);
  const missing = Object.keys(defaults)
    .filter((name) => !Object.hasOwn(given, name))
    .sort();
  if (missing.length === 0) return [];
  const amounts = makeFields(makeFields(container, 'resources'), side);
  for (const name of missing) amounts[name] = defaults[name];
  return missing;
}

export function podProblems(pod: KubeObject, range: KubeObject): string[] {
  const spec = asFields(pod['spec']);
  return asItems(asFields(range['spec'])['limits']).flatMap((limit) => {
    if (limit['type'] === 'Container') {
      return containersOf(spec, ['containers', 'initContainers']).flatMap((container) =>
        problems(limit, { requests: amountsOf(container, 'requests'), limits: amountsOf(container, 'limits') }),
      );
    }
    if (limit['type'] !== 'Pod') return [];
    const whole = { withOverhead: false };
    return problems(limit, {
      requests: podAmounts(spec, 'requests', whole),
      limits: podAmounts(spec, 'limits', whole),
    });
  });
}

export function claimProblems(claim: KubeObject, range: KubeObject): string[] {
  const requests = amountsOf(asFields(claim['spec']), 'requests');
  return limitsOf(range, 'PersistentVolumeClaim').flatMap((limit) => problems(limit, { requests, limits: undefined }));
}

function problems(limit: Fields, asked: Asked): string[] {
  const type = asText(limit['type']);
  const each = (field: string, rule: (bound: Bound, asked: Asked) => string | undefined) =>
    [...readAmounts(limit[field])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, amount]) => rule({ type, name, amount }, asked) ?? []);
  return [...each('min', tooLittle), ...each('max', tooMuch), ...each('maxLimitRequestRatio', tooFarApart)];
}

interface Bound {
  readonly type: string;
  readonly name: string;
  readonly amount: Quantity;
}

function tooLittle({ type, name, amount }: Bound, { requests, limits }: Asked): string | undefined {
  const text = `minimum ${name} usage per ${type} is ${amount.toString()}`;
  const request = requests.get(name);
  const limit = limits?.get(name);
  if (!request) return `${text}.  No request is specified`;
  if (request.compare(amount) < 0) return `${text}, but request is ${request.toString()}`;
  if (limit && limit.compare(amount) < 0) return `${text}, but limit is ${limit.toString()}`;
  return undefined;
}

function tooMuch({ type, name, amount }: Bound, { requests, limits }: Asked): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${amount.toString()}`;
  const request = requests.get(name);
  const limit = limits?.get(name);
  if (limits && !limit) return `${text}.  No limit is specified`;
  if (!limits && !request) return `${text}.  No request is specified`;
  if (limit && limit.compare(amount) > 0) return `${text}, but limit is ${limit.toString()}`;
  if (request && request.compare(amount) > 0) return `${text}, but request is ${request.toString()}`;
  return undefined;
}

function tooFarApart({ type, name, amount }: Bound, { requests, limits }: Asked): string | undefined {
  const text = `${name} max limit to request ratio per ${type} is ${amount.toString()}`;
  const request = requests.get(name);
  const limit = limits?.get(name);
  if (!request || request.isZero) return `${text}, but no request is specified or request is 0`;
  if (!limit || limit.isZero) return `${text}, but no limit is specified or limit is 0`;
  const ratio = limit.toNumber() / request.toNumber();
  return ratio > amount.toNumber() ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
