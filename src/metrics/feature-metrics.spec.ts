import { featureGates } from '../config/feature-gate-list.js';
import { resolveGates } from '../config/feature-gates.js';
import { featureFamilies } from './feature-metrics.js';

test.each([
  ['ShardedListAndWatch', 'ALPHA', 0],
  ['CBORServingAndStorage', 'ALPHA', 1],
  ['WatchList', 'BETA', 1],
  ['DeclarativeValidationTakeover', 'BETA', 0],
  ['SidecarContainers', '', 1],
  ['KMSv1', 'DEPRECATED', 0],
])('feature gate %s of stage "%s" has value %s', (name, stage, value) => {
  const [family] = featureFamilies(resolveGates({ CBORServingAndStorage: true }));
  const samples = [...family!.samples()];
  expect(samples.filter((sample) => sample.labels['name'] === name)).toEqual([{ labels: { name, stage }, value }]);
  expect(samples).toHaveLength(featureGates.length);
});
