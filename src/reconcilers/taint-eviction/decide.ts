import type { Taint, Toleration } from '../../catalog/types/core.v1.js';

/** `now`; `never`; or the time in seconds after which a Pod is evicted. */
export type Eviction = 'now' | 'never' | number;

interface Ranked {
  readonly rank: number;
  readonly toleration: Toleration;
}

/**
 * Decides by the taints of a Node whose effect is NoExecute. As in kube-controller-manager, the first toleration that
 * matches a taint counts, and of these the shortest time.
 */
export function evictionBy(taints: readonly Taint[], tolerations: readonly Toleration[]): Eviction {
  const executing = taints.filter(({ effect }) => effect === 'NoExecute');
  if (executing.length === 0) return 'never';
  const byKey = grouped(tolerations);
  let least: number | undefined;
  for (const taint of executing) {
    const used = firstMatch(taint, byKey);
    if (!used) return 'now';
    if (used.tolerationSeconds === undefined) continue;
    const seconds = Number(used.tolerationSeconds);
    if (seconds <= 0) return 'now';
    least = Math.min(least ?? Infinity, seconds);
  }
  return least ?? 'never';
}

/** Groups tolerations by key, so that many taints and many tolerations are matched in linear time. */
function grouped(tolerations: readonly Toleration[]): ReadonlyMap<string, readonly Ranked[]> {
  const byKey = new Map<string, Ranked[]>();
  tolerations.forEach((toleration, rank) => {
    const { key = '', effect = '' } = toleration;
    if (effect !== '' && effect !== 'NoExecute') return;
    const group = byKey.get(key);
    // A toleration without a key tolerates everything, so only the first of them counts.
    if (group && key !== '') group.push({ rank, toleration });
    else if (!group && (key !== '' || toleration.operator === 'Exists')) byKey.set(key, [{ rank, toleration }]);
  });
  return byKey;
}

function firstMatch(taint: Taint, byKey: ReadonlyMap<string, readonly Ranked[]>): Toleration | undefined {
  const [any] = byKey.get('') ?? [];
  const own = (byKey.get(taint.key ?? '') ?? []).find(({ toleration }) => matchesValue(toleration, taint.value ?? ''));
  if (!own || (any && any.rank < own.rank)) return any?.toleration;
  return own.toleration;
}

function matchesValue({ operator = '', value = '' }: Toleration, tainted: string): boolean {
  switch (operator) {
    case 'Exists':
      return true;
    case '':
    case 'Equal':
      return value === tainted;
    case 'Lt':
      return areNumbers(value, tainted) && BigInt(tainted) < BigInt(value);
    case 'Gt':
      return areNumbers(value, tainted) && BigInt(tainted) > BigInt(value);
    default:
      return false;
  }
}

const areNumbers = (...texts: string[]): boolean => texts.every((text) => /^(0|-?[1-9]\d{0,18})$/.test(text));
