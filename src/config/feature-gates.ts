import { featureGates, type FeatureGate, type GateStage } from './feature-gate-list.js';
import { nearest } from './suggestion.js';

export type FeatureGates = Readonly<Record<string, boolean>>;

const gatesByName: ReadonlyMap<string, FeatureGate> = new Map(featureGates.map((gate) => [gate.name, gate]));

/** These two are gates that move every other gate of their stage. */
const groups: Readonly<Record<string, GateStage>> = { AllAlpha: 'Alpha', AllBeta: 'Beta' };

/** Why a setting is refused, if it is: it completes "--feature-gates: ". */
export function gateProblem(name: string, enabled: boolean): string | undefined {
  const gate = gatesByName.get(name);
  if (!gate) {
    const meant = nearest(name, gatesByName.keys());
    return `${name} is no known feature gate${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  }
  return gate.isLocked && enabled !== gate.default
    ? `${name} is locked to ${gate.default} and cannot be set to ${enabled}`
    : undefined;
}

/** What to say of a setting that will not be possible for long. */
export function gateWarning(name: string, enabled: boolean): string | undefined {
  const stage = gatesByName.get(name)?.stage;
  if (stage !== 'GA' && stage !== 'Deprecated') return undefined;
  const what = stage === 'GA' ? 'GA' : 'deprecated';
  return `the ${what} feature gate ${name} is set to ${enabled}: a future release will not know it`;
}

/** Every known gate with its state. One's own setting counts more than that of its stage. */
export function resolveGates(given: FeatureGates): FeatureGates {
  const resolved = Object.create(null) as Record<string, boolean>;
  for (const { name, stage, isLocked, default: byDefault } of featureGates) {
    const group = Object.keys(groups).find((candidate) => groups[candidate] === stage);
    const ofStage = group === undefined || isLocked || name in groups ? undefined : given[group];
    resolved[name] = given[name] ?? ofStage ?? byDefault;
  }
  return resolved;
}

/** Gates that types still name although every release switches them on, until nobody knew them any more. */
const forgottenGates: ReadonlySet<string> = new Set(['CSIStorageCapacity']);

/** Whether what a gate guards is there. A gate that is not known here guards something that is not here, either. */
export function isGateOn(resolved: FeatureGates, name: string): boolean {
  return resolved[name] ?? forgottenGates.has(name);
}
