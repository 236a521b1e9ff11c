import { Quantity, QuantityError } from '../../machinery/quantity.js';

/** Resources with a threshold: `memory.available` and so on. */
const evictionSignals = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'pid.available'] as const;
export type EvictionSignal = (typeof evictionSignals)[number];

/** An amount, or a share of the capacity. */
type Threshold = { readonly amount: bigint } | { readonly share: number };
export type EvictionThresholds = ReadonlyMap<EvictionSignal, Threshold>;

/** The kubelet's defaults, and one for processes, which it does not limit. */
export const evictionHardDefault = 'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,pid.available<5%';

/** Signals of the kubelet that this agent does not measure. */
const unmeasured = new Set([
  'allocatableMemory.available',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
]);

/** Parses `memory.available<100Mi,nodefs.available<10%`; returns the error of a wrong text. */
export function parseEvictionThresholds(text: string): EvictionThresholds | string {
  const thresholds = new Map<EvictionSignal, Threshold>();
  for (const term of text.split(',').filter((part) => part !== '')) {
    const [, name = '', value = ''] = /^([^<]*)<(.*)$/.exec(term) ?? [];
    if (unmeasured.has(name)) continue;
    const signal = evictionSignals.find((known) => known === name);
    if (!signal)
      return `"${term}" must be signal<quantity or signal<percentage, with one of ${evictionSignals.join(', ')}`;
    if (thresholds.has(signal)) return `${signal} is set twice`;
    const threshold = thresholdOf(value);
    if (threshold === undefined) return `"${term}": the threshold must be a quantity or a percentage up to 100%`;
    thresholds.set(signal, threshold);
  }
  return thresholds;
}

function thresholdOf(text: string): Threshold | undefined {
  const [, percentage] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  if (percentage !== undefined) return Number(percentage) <= 100 ? { share: Number(percentage) / 100 } : undefined;
  try {
    const quantity = Quantity.parse(text);
    return quantity.sign < 0 ? undefined : { amount: quantity.toInteger() };
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** Returns the amount below which there is pressure; 0 without a threshold. */
export function thresholdAmount(thresholds: EvictionThresholds, signal: EvictionSignal, capacity: bigint): bigint {
  const threshold = thresholds.get(signal);
  if (!threshold) return 0n;
  return 'amount' in threshold ? threshold.amount : BigInt(Math.floor(Number(capacity) * threshold.share));
}
