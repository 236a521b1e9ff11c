import { featureGates, type GateStage } from '../config/feature-gate-list.js';
import type { FeatureGates } from '../config/feature-gates.js';
import { family, type MetricFamily } from './metric-family.js';

/** Stages as metric labels; stable (GA) features have an empty one. */
const stageLabels: Readonly<Record<GateStage, string>> = {
  Alpha: 'ALPHA',
  Beta: 'BETA',
  GA: '',
  Deprecated: 'DEPRECATED',
};

/** Returns the metric of feature gates, computed once since gates do not change while the server runs. */
export function featureFamilies(enabled: FeatureGates): MetricFamily[] {
  const samples = () =>
    featureGates.map(({ name, stage }) => ({
      labels: { name, stage: stageLabels[stage] },
      value: enabled[name] === true ? 1 : 0,
    }));
  return [
    family(
      'kubernetes_feature_enabled',
      'gauge',
      '[BETA] State of a feature gate, 1 if enabled and 0 if disabled, with its stage.',
      samples,
    ),
  ];
}
