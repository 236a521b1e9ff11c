import { featureGates, type GateStage } from './feature-gate-list.js';
import { gateProblem, gateWarning, isGateOn, resolveGates, type FeatureGates } from './feature-gates.js';

/** Gates of the specification, and others whose state is known from their declaration in Kubernetes. */
test.each<[name: string, stage: GateStage, byDefault: boolean, isLocked?: boolean]>([
  ['CBORServingAndStorage', 'Alpha', false],
  ['ShardedListAndWatch', 'Alpha', false],
  ['APIResponseCompression', 'Beta', true],
  ['AllowUnsafeMalformedObjectDeletion', 'Alpha', false],
  ['ListFromCacheSnapshot', 'Beta', true],
  ['DeclarativeValidation', 'Beta', true],
  ['DeclarativeValidationTakeover', 'Beta', false],
  ['APISelfSubjectReview', 'GA', true, true],
  ['AuthorizeWithSelectors', 'Alpha', false],
  ['ContainerCheckpoint', 'Alpha', false],
  ['ConstrainedImpersonation', 'Beta', true],
  ['AtomicFIFO', 'Beta', true],
  ['ClientsAllowCARotation', 'Beta', true],
  ['ClientsAllowCBOR', 'Alpha', false],
  ['ClientsAllowTLSCacheGC', 'Beta', true],
  ['ClientsPreferCBOR', 'Alpha', false],
  ['InOrderInformers', 'GA', true, true],
  ['InOrderInformersBatchProcess', 'Beta', true],
  ['InformerResourceVersion', 'GA', true],
  ['UnlockWhileProcessingFIFO', 'Beta', true],
  ['WatchListClient', 'Beta', true],
  ['CRDObservedGenerationTracking', 'Beta', true],
  ['CRDValidationRatcheting', 'GA', true, true],
  ['CustomResourceFieldSelectors', 'GA', true, true],
  ['WatchFromStorageWithoutResourceVersion', 'Deprecated', false, true],
  ['KMSv1', 'Deprecated', false],
])('gate %s has stage %s and default %s', (name, stage, byDefault, isLocked = false) => {
  expect(featureGates.filter((gate) => gate.name === name)).toEqual([{ name, stage, default: byDefault, isLocked }]);
});

test('gates are unique, and alpha gates are neither enabled by default nor locked', () => {
  expect(new Set(featureGates.map(({ name }) => name)).size).toBe(featureGates.length);
  const alpha = featureGates.filter(({ stage }) => stage === 'Alpha');
  expect(alpha.filter((gate) => gate.default || gate.isLocked)).toEqual([]);
});

test.each<[name: string, enabled: boolean, problem: string | undefined, warning: string | undefined]>([
  ['CBORServingAndStorage', true, undefined, undefined],
  ['WatchList', false, undefined, undefined],
  ['AllAlpha', true, undefined, undefined],
  ['WatchLst', true, 'unknown feature gate WatchLst; did you mean WatchList?', undefined],
  ['Zzzzzzzzzzzzzzzz', true, 'unknown feature gate Zzzzzzzzzzzzzzzz', undefined],
  ['constructor', true, 'unknown feature gate constructor', undefined],
  [
    'SidecarContainers',
    true,
    undefined,
    'the GA feature gate SidecarContainers=true will be removed in a future release; remove it from --feature-gates',
  ],
  [
    'SidecarContainers',
    false,
    'SidecarContainers is locked to true and cannot be set to false',
    'the GA feature gate SidecarContainers=false will be removed in a future release; remove it from --feature-gates',
  ],
  [
    'InformerResourceVersion',
    false,
    undefined,
    'the GA feature gate InformerResourceVersion=false will be removed in a future release; remove it from --feature-gates',
  ],
  [
    'KMSv1',
    true,
    undefined,
    'the deprecated feature gate KMSv1=true will be removed in a future release; remove it from --feature-gates',
  ],
  [
    'WatchFromStorageWithoutResourceVersion',
    true,
    'WatchFromStorageWithoutResourceVersion is locked to false and cannot be set to true',
    'the deprecated feature gate WatchFromStorageWithoutResourceVersion=true will be removed in a future release; remove it from --feature-gates',
  ],
])('error and warning of %s=%s', (name, enabled, problem, warning) => {
  expect([gateProblem(name, enabled), gateWarning(name, enabled)]).toEqual([problem, warning]);
});

test.each<{ name: string; given: FeatureGates; want: FeatureGates }>([
  {
    name: 'no setting',
    given: {},
    want: { ShardedListAndWatch: false, WatchList: true, SELinuxMount: false, SidecarContainers: true, KMSv1: false },
  },
  { name: 'one gate', given: { WatchList: false }, want: { WatchList: false, ListFromCacheSnapshot: true } },
  {
    name: 'AllAlpha with one gate disabled',
    given: { AllAlpha: true, ShardedListAndWatch: false },
    want: {
      ...{ AllAlpha: true, AllBeta: false, CBORServingAndStorage: true, ShardedListAndWatch: false },
      ...{ SELinuxMount: false, KMSv1: false },
    },
  },
  {
    name: 'AllBeta disabled',
    given: { AllBeta: false },
    want: { WatchList: false, APIResponseCompression: false, SidecarContainers: true, CBORServingAndStorage: false },
  },
  { name: 'AllBeta enabled', given: { AllBeta: true }, want: { SELinuxMount: true, AllBeta: true, AllAlpha: false } },
])('resolves the gates of: $name', ({ given, want }) => {
  const resolved = resolveGates(given);
  expect(resolved).toMatchObject(want);
  expect(Object.keys(resolved)).toHaveLength(featureGates.length);
});

test.each([
  ['ListFromCacheSnapshot', true],
  ['ShardedListAndWatch', false],
  ['CSIStorageCapacity', true],
  ['NeverHeardOf', false],
])('isGateOn(%s) is %j', (name, want) => expect(isGateOn(resolveGates({}), name)).toBe(want));
