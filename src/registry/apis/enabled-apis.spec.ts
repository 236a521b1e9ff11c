import { namingProfile } from '../../config/naming-profile.js';
import type { RuntimeConfig } from '../../config/runtime-config.js';
import { chooseApis, type KnownApi } from './enabled-apis.js';

const naming = namingProfile('kubernetes');

const known: readonly KnownApi[] = [
  { group: '', version: 'v1', resources: ['pods'] },
  { group: 'batch', version: 'v1', resources: ['jobs', 'cronjobs'] },
  { group: 'batch', version: 'v2beta1', resources: ['jobs'] },
  { group: 'batch', version: 'v2alpha1', resources: ['jobs', 'cronjobs'] },
  { group: 'networking.k8s.io', version: 'v1beta1', resources: ['ipaddresses'] },
  { group: 'old.example', version: 'v1beta1', resources: ['things'], isOnByDefault: true },
];

const core = ['/v1/pods'];
const batch = ['batch/v1/jobs', 'batch/v1/cronjobs'];
const beta = ['batch/v2beta1/jobs', 'networking.k8s.io/v1beta1/ipaddresses'];
const alpha = ['batch/v2alpha1/jobs', 'batch/v2alpha1/cronjobs'];
const old = ['old.example/v1beta1/things'];

const served = (config: RuntimeConfig) => {
  const choice = chooseApis(config, known, naming);
  if (choice.errors) throw new Error(choice.errors.join('\n'));
  return known
    .flatMap(({ group, version, resources }) => resources.map((resource) => [group, version, resource] as const))
    .filter(([group, version, resource]) => choice.isServed(group, version, resource))
    .map((names) => names.join('/'))
    .sort();
};

test.each<{ name: string; given: RuntimeConfig; want: string[] }>([
  { name: '--runtime-config is empty', given: {}, want: [...core, ...batch, ...old] },
  { name: 'api/all is on', given: { 'api/all': true }, want: [...core, ...batch, ...beta, ...alpha, ...old] },
  { name: 'api/beta is on', given: { 'api/beta': true }, want: [...core, ...batch, ...beta, ...old] },
  { name: 'api/beta is off', given: { 'api/beta': false }, want: [...core, ...batch] },
  { name: 'api/alpha is on', given: { 'api/alpha': true }, want: [...core, ...batch, ...alpha, ...old] },
  { name: 'api/ga is off', given: { 'api/ga': false }, want: old },
  {
    name: 'api/ga overrides api/all in any order',
    given: { 'api/ga': true, 'api/all': false },
    want: [...core, ...batch],
  },
  {
    name: 'a version overrides api/beta and api/all',
    given: { 'batch/v2beta1': false, 'api/beta': true, 'api/all': false },
    want: ['networking.k8s.io/v1beta1/ipaddresses', ...old],
  },
  { name: 'api/all is off and v1 is on', given: { 'api/all': false, v1: true }, want: core },
  { name: 'api/v1 is off', given: { 'api/v1': false }, want: [...batch, ...old] },
  {
    name: 'a beta version is on',
    given: { 'batch/v2beta1': true },
    want: [...core, ...batch, 'batch/v2beta1/jobs', ...old],
  },
  { name: 'a stable version is off', given: { 'batch/v1': false }, want: [...core, ...old] },
  {
    name: 'a resource is on in a version that is off',
    given: { 'batch/v2alpha1/jobs': true },
    want: [...core, ...batch, 'batch/v2alpha1/jobs', ...old],
  },
  {
    name: 'a resource is off in a version that is on',
    given: { 'batch/v1/cronjobs': false, 'batch/v1': true },
    want: [...core, 'batch/v1/jobs', ...old],
  },
])('served resources when $name', ({ given, want }) => {
  expect(served(given)).toEqual([...want].sort());
});

test('an unknown resource is not served', () => {
  const choice = chooseApis({ 'api/all': true }, known, naming);
  expect(!choice.errors && choice.isServed('batch', 'v1', 'nothing')).toBe(false);
});

test.each<{ name: string; given: RuntimeConfig; errors: string[] }>([
  {
    name: 'a group',
    given: { 'bach/v1': true },
    errors: ['bach/v1: the group "bach" is not known; did you mean batch?'],
  },
  {
    name: 'a version, even if it is disabled',
    given: { 'batch/v3': false },
    errors: ['batch/v3 is not known; the group has v1, v2beta1, v2alpha1'],
  },
  { name: 'a version of the core', given: { v2: true }, errors: ['v2 is not known; the group has v1'] },
  {
    name: 'a resource',
    given: { 'batch/v1/job': true },
    errors: ['batch/v1 has no resource "job"; did you mean jobs?'],
  },
  {
    name: 'several keys',
    given: { 'zzzzzzzzzz.example/v1/things': true, 'v1/nothings': true },
    errors: ['zzzzzzzzzz.example/v1: the group "zzzzzzzzzz.example" is not known', 'v1 has no resource "nothings"'],
  },
])('rejects unknown names: $name', ({ given, errors }) => {
  expect(chooseApis(given, known, naming)).toEqual({ errors });
});

test.each<{ name: string; given: RuntimeConfig; warnings: string[] }>([
  {
    name: 'a version with several kinds',
    given: { 'policy/v1beta1': true },
    warnings: [
      'policy/v1beta1 PodDisruptionBudget was removed in v1.25; use policy/v1 PodDisruptionBudget',
      'policy/v1beta1 PodSecurityPolicy was removed in v1.25; it has no replacement',
    ],
  },
  {
    name: 'one removed resource',
    given: { 'extensions/v1beta1/ingresses': false },
    warnings: ['extensions/v1beta1 Ingress was removed in v1.22; use networking.k8s.io/v1 Ingress'],
  },
  {
    name: 'a removed resource of a version that is served again',
    given: { 'networking.k8s.io/v1beta1/ingressclasses': true },
    warnings: ['networking.k8s.io/v1beta1 IngressClass was removed in v1.22; use networking.k8s.io/v1 IngressClass'],
  },
  { name: 'no warning for a version that is served again', given: { 'networking.k8s.io/v1beta1': true }, warnings: [] },
])('warnings for removed APIs: $name', ({ given, warnings }) => {
  expect(chooseApis(given, known, naming)).toMatchObject({ warnings });
});

test('names of removed groups contain the configured domain', () => {
  const choice = chooseApis(
    { 'storage.example.com/v1beta1/csinodes': true },
    known,
    namingProfile('svc', { apiDomain: 'example.com' }),
  );
  expect(choice).toMatchObject({
    warnings: ['storage.example.com/v1beta1 CSINode was removed in v1.22; use storage.example.com/v1 CSINode'],
  });
});
