import { Quantity } from '../../machinery/quantity.js';
import { thresholdAmount } from './eviction-thresholds.js';
import type { HostAmounts } from './host-amounts.js';
import type { NodeSettings } from './node-settings.js';

type Resources = Record<string, string>;

interface Capacity {
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

/** Returns what the machine has, and what remains for Pods without the reserved amounts and the eviction thresholds. */
export function nodeCapacity(
  { podsMax, reserved, evictionHard }: Pick<NodeSettings, 'podsMax' | 'reserved' | 'evictionHard'>,
  cpus: number,
  { memory, storage }: HostAmounts,
): Capacity {
  const amounts: Record<string, Quantity> = {
    cpu: Quantity.ofInteger(cpus),
    ...(storage && { 'ephemeral-storage': Quantity.ofInteger(storage.capacity, 'BinarySI') }),
    memory: Quantity.ofInteger(memory?.capacity ?? 0n, 'BinarySI'),
    pods: Quantity.ofInteger(podsMax),
  };
  const evicted: Readonly<Record<string, bigint>> = {
    memory: thresholdAmount(evictionHard, 'memory.available', memory?.capacity ?? 0n),
    'ephemeral-storage': thresholdAmount(evictionHard, 'nodefs.available', storage?.capacity ?? 0n),
  };
  const capacity: Resources = {};
  const allocatable: Resources = {};
  for (const [name, amount] of Object.entries(amounts)) {
    capacity[name] = amount.toString();
    let rest = amount;
    for (const resources of reserved) {
      if (Object.hasOwn(resources, name)) rest = rest.subtract(Quantity.parse(resources[name]!));
    }
    if (Object.hasOwn(evicted, name)) rest = rest.subtract(Quantity.ofInteger(evicted[name]!, 'BinarySI'));
    allocatable[name] = rest.sign < 0 ? '0' : rest.toString();
  }
  return { capacity, allocatable };
}
