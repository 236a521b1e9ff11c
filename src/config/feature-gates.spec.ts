import { featureGates, type GateStage } from './feature-gate-list.js';
import { gateProblem, gateWarning, isGateOn, resolveGates, type FeatureGates } from './feature-gates.js';

/** The gates that the specification names, and others whose state is known from where they are declared. */
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
])('%s is %s, by default %s', (name, stage, byDefault, isLocked = false) => {
  expect(featureGates.filter((gate) => gate.name === name)).toEqual([{ name, stage, default: byDefault, isLocked }]);
});

test('no gate stands twice, and none that is alpha is on or locked', () => {
  expect(new Set(featureGates.map(({ name }) => name)).size).toBe(featureGates.length);
  const alpha = featureGates.filter(({ stage }) => stage === 'Alpha');
  expect(alpha.filter((gate) => gate.default || gate.isLocked)).toEqual([]);
});

test.each<[name: string, enabled: boolean, problem: string | undefined, warning: string | undefined]>([
  ['CBORServingAndStorage', true, undefined, undefined],
  ['WatchList', false, undefined, undefined],
  ['AllAlpha', true, undefined, undefined],
  ['WatchLst', true, 'WatchLst is no known feature gate; did you mean WatchList?', undefined],
  ['Zzzzzzzzzzzzzzzz', true, 'Zzzzzzzzzzzzzzzz is no known feature gate', undefined],
  ['constructor', true, 'constructor is no known feature gate', undefined],
  [
    'SidecarContainers',
    true,
    undefined,
    'the GA feature gate SidecarContainers is set to true: a future release will not know it',
  ],
  [
    'SidecarContainers',
    false,
    'SidecarContainers is locked to true and cannot be set to false',
    'the GA feature gate SidecarContainers is set to false: a future release will not know it',
  ],
  [
    'InformerResourceVersion',
    false,
    undefined,
    'the GA feature gate InformerResourceVersion is set to false: a future release will not know it',
  ],
  ['KMSv1', true, undefined, 'the deprecated feature gate KMSv1 is set to true: a future release will not know it'],
  [
    'WatchFromStorageWithoutResourceVersion',
    true,
    'WatchFromStorageWithoutResourceVersion is locked to false and cannot be set to true',
    'the deprecated feature gate WatchFromStorageWithoutResourceVersion is set to true: a future release will not know it',
  ],
])('%s=%s', (name, enabled, problem, warning) => {
  expect([gateProblem(name, enabled), gateWarning(name, enabled)]).toEqual([problem, warning]);
});

test.each<{ name: string; given: FeatureGates; want: FeatureGates }>([
  {
    name: 'nothing',
    given: {},
    want: { ShardedListAndWatch: false, WatchList: true, SELinuxMount: false, SidecarContainers: true, KMSv1: false },
  },
  { name: 'one', given: { WatchList: false }, want: { WatchList: false, ListFromCacheSnapshot: true } },
  {
    name: 'all alpha ones, but one',
    given: { AllAlpha: true, ShardedListAndWatch: false },
    want: {
      ...{ AllAlpha: true, AllBeta: false, CBORServingAndStorage: true, ShardedListAndWatch: false },
      ...{ SELinuxMount: false, KMSv1: false },
    },
  },
  {
    name: 'no beta ones',
    given: { AllBeta: false },
    want: { WatchList: false, APIResponseCompression: false, SidecarContainers: true, CBORServingAndStorage: false },
  },
  { name: 'all beta ones', given: { AllBeta: true }, want: { SELinuxMount: true, AllBeta: true, AllAlpha: false } },
])('what follows from $name', ({ given, want }) => {
  const resolved = resolveGates(given);
  expect(resolved).toMatchObject(want);
  expect(Object.keys(resolved)).toHaveLength(featureGates.length);
});

test.each([
  ['ListFromCacheSnapshot', true],
  ['ShardedListAndWatch', false],
  ['CSIStorageCapacity', true],
  ['NeverHeardOf', false],
])('%s is on: %j', (name, want) => expect(isGateOn(resolveGates({}), name)).toBe(want));
