import { featureGates, type FeatureGate, type GateStage } from './feature-gate-list.js';
import { didYouMean } from './suggestion.js';

export type FeatureGates = Readonly<Record<string, boolean>>;

const gatesByName: ReadonlyMap<string, FeatureGate> = new Map(featureGates.map((gate) => [gate.name, gate]));

/** Gates that set all other gates of a stage. */
const groups: Readonly<Record<string, GateStage>> = { AllAlpha: 'Alpha', AllBeta: 'Beta' };

/** Returns the error of an invalid setting, to be printed after "--feature-gates: ". */
export function gateProblem(name: string, enabled: boolean): string | undefined {
  const gate = gatesByName.get(name);
  if (!gate) return `unknown feature gate ${name}${didYouMean(name, gatesByName.keys())}`;
  return gate.isLocked && enabled !== gate.default
    ? `${name} is locked to ${gate.default} and cannot be set to ${enabled}`
    : undefined;
}

/** Returns the warning of a GA or deprecated gate. */
export function gateWarning(name: string, enabled: boolean): string | undefined {
  const stage = gatesByName.get(name)?.stage;
  if (stage !== 'GA' && stage !== 'Deprecated') return undefined;
  const label = stage === 'GA' ? 'GA' : 'deprecated';
  return `the ${label} feature gate ${name}=${enabled} will be removed in a future release; remove it from --feature-gates`;
}

/** Returns the state of every known gate. A setting of the gate takes precedence over AllAlpha and AllBeta. */
export function resolveGates(configured: FeatureGates): FeatureGates {
  const resolved = Object.create(null) as Record<string, boolean>;
  for (const { name, stage, isLocked, default: byDefault } of featureGates) {
    const group = Object.keys(groups).find((candidate) => groups[candidate] === stage);
    const ofStage = group === undefined || isLocked || name in groups ? undefined : configured[group];
    resolved[name] = configured[name] ?? ofStage ?? byDefault;
  }
  return resolved;
}

/** Removed gates of GA features that types still refer to. They count as enabled. */
const removedGates: ReadonlySet<string> = new Set(['CSIStorageCapacity']);

/** True if the feature of the gate is enabled. Unknown gates belong to features that this server does not have. */
export function isGateOn(resolved: FeatureGates, name: string): boolean {
  return resolved[name] ?? removedGates.has(name);
}
