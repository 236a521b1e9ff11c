import { applySteps } from './steps-apply.js';
import { changeSteps } from './steps-change.js';
import { dryRunSteps } from './steps-dry-run.js';
import { rolloutSteps } from './steps-rollout.js';
import type { Step } from './step.js';

/** All ways to write, each group in a namespace of its own, so that no step depends on another group. */
export function writeSteps(prefix: string): readonly Step[] {
  const groups = { apply: applySteps, change: changeSteps, rollout: rolloutSteps, dry: dryRunSteps };
  const namespaces = Object.keys(groups).map((name) => `${prefix}-${name}`);
  return [
    ...namespaces.map((name) => ({ name: `namespace ${name}`, args: ['create', 'namespace', name] })),
    ...Object.values(groups).flatMap((steps, index) => steps(namespaces[index]!)),
    {
      name: 'delete their namespaces',
      args: ['delete', 'namespace', ...namespaces, '--timeout=25s'],
      stdout: /deleted/,
    },
  ];
}
