import { featureGates, type GateStage } from '../config/feature-gate-list.js';
import type { FeatureGates } from '../config/feature-gates.js';
import type { MetricFamily } from './metrics-family.js';

/** What is stable has no stage. */
const stageLabels: Readonly<Record<GateStage, string>> = {
  Alpha: 'ALPHA',
  Beta: 'BETA',
  GA: '',
  Deprecated: 'DEPRECATED',
};

/** Gates do not change while the server runs. */
export function featureFamilies(enabled: FeatureGates): MetricFamily[] {
  const samples = featureGates.map(({ name, stage }) => ({
    labels: { name, stage: stageLabels[stage] },
    value: enabled[name] === true ? 1 : 0,
  }));
  return [
    {
      name: 'kubernetes_feature_enabled',
      type: 'gauge',
      help: '[BETA] Whether a feature gate is on, with the stage of its feature.',
      samples: () => samples,
    },
  ];
}
