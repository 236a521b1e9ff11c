import type { NodeCondition } from '../../catalog/types/core.v1.js';
import type { Pressure } from './pressure.js';

/** Reasons and messages are those of the kubelet, by which dashboards and alerts find them. */
const pressureTexts: Readonly<Record<Pressure, { type: string; short: Text; enough: Text }>> = {
  memory: {
    type: 'MemoryPressure',
    short: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    enough: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  },
  disk: {
    type: 'DiskPressure',
    short: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    enough: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  },
  pid: {
    type: 'PIDPressure',
    short: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    enough: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  },
};
type Text = readonly [reason: string, message: string];

interface ConditionFacts {
  readonly pressures: ReadonlySet<Pressure>;
  /** Reasons for which the node is not ready. */
  readonly problems: readonly string[];
  /** Time of the heartbeat. */
  readonly now: string;
}

/**
 * Returns the conditions of the Node after an observation: those of other writers in their place, those of the agent
 * changed or added, the new ones with Ready last.
 */
export function nodeConditions(
  before: readonly NodeCondition[],
  { pressures, problems, now }: ConditionFacts,
): NodeCondition[] {
  const own = new Map(
    (['memory', 'disk', 'pid'] as const).map((pressure) => {
      const { type, short, enough } = pressureTexts[pressure];
      return [type, pressures.has(pressure) ? conditionOf('True', short) : conditionOf('False', enough)];
    }),
  );
  own.set('Ready', readyCondition(problems));
  const heard = (type: string, last: NodeCondition | undefined): NodeCondition => {
    const condition = own.get(type)!;
    const isSame = last?.status === condition.status;
    return {
      type,
      ...condition,
      lastHeartbeatTime: now,
      lastTransitionTime: isSame ? (last.lastTransitionTime ?? now) : now,
    };
  };
  const known = before.map((condition) =>
    own.has(condition.type ?? '') ? heard(condition.type!, condition) : condition,
  );
  const missing = [...own.keys()].filter((type) => !before.some((condition) => condition.type === type));
  return [...known, ...missing.map((type) => heard(type, undefined))];
}

function readyCondition(problems: readonly string[]) {
  if (problems.length === 0) return conditionOf('True', ['KubeletReady', 'kubelet is posting ready status']);
  const message = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
  return conditionOf('False', ['KubeletNotReady', message]);
}

function conditionOf(status: string, [reason, message]: Text) {
  return { status, reason, message };
}
