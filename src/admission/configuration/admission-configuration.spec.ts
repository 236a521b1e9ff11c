import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubernetes } from '../../../test/harness/admission.js';
import { admissionPluginNames } from '../../config/admission-plugins.js';
import { plainConfiguration, readAdmissionConfiguration } from './admission-configuration.js';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'keelson-admission-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const read = (text: string, others: Readonly<Record<string, string>> = {}) => {
  for (const [name, other] of Object.entries(others)) writeFileSync(join(directory, name), other);
  const file = join(directory, 'admission.yaml');
  writeFileSync(file, text);
  return readAdmissionConfiguration(file, kubernetes, admissionPluginNames);
};
const withPlugins = (plugins: string) =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n${plugins}`;
const podSecurity = (fields: string) =>
  withPlugins(`- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
${fields}`);

it('without a file, the default configuration is used', () => {
  expect(readAdmissionConfiguration(undefined, kubernetes, admissionPluginNames)).toBe(plainConfiguration);
});

it('reads defaults and exemptions of PodSecurity', () => {
  const text = podSecurity(`    defaults: { enforce: baseline, enforce-version: v1.30, warn: restricted }
    exemptions: { usernames: [root], runtimeClasses: [vm], namespaces: [kube-system] }
`);
  expect(read(text).podSecurity).toEqual({
    defaults: {
      enforce: { level: 'baseline', version: 30 },
      audit: { level: 'privileged', version: 'latest' },
      warn: { level: 'restricted', version: 'latest' },
    },
    exemptions: {
      usernames: new Set(['root']),
      runtimeClasses: new Set(['vm']),
      namespaces: new Set(['kube-system']),
    },
  });
});

it('reads the configuration of ResourceQuota from the file in `path`, relative to the main file', () => {
  const quota = `apiVersion: apiserver.config.k8s.io/v1
kind: ResourceQuotaConfiguration
limitedResources:
- resource: pods
  matchScopes: [{ scopeName: PriorityClass, operator: In, values: [high] }]
- apiGroup: apps
  resource: deployments
  matchContains: [count/]
`;
  const text = withPlugins('- name: ResourceQuota\n  path: quota.yaml\n');
  expect(read(text, { 'quota.yaml': quota }).quota.limitedResources).toEqual([
    {
      group: '',
      resource: 'pods',
      matchContains: [],
      matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
    },
    { group: 'apps', resource: 'deployments', matchContains: ['count/'], matchScopes: [] },
  ]);
});

const eventLimits = (limits: string) =>
  withPlugins(`- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits: ${limits}
`);

it('reads the limits of EventRateLimit, with the default cache size', () => {
  expect(read(eventLimits('[{ type: User, qps: 5, burst: 10 }]')).eventLimits).toEqual([
    { type: 'User', perSecond: 5, burst: 10, bucketsMax: 4096 },
  ]);
});

it('returns the configuration of PodNodeSelector unparsed', () => {
  const text = withPlugins('- name: PodNodeSelector\n  configuration: { podNodeSelectorPluginConfig: {} }\n');
  expect(read(text).others.get('PodNodeSelector')).toEqual({ podNodeSelectorPluginConfig: {} });
});

it.each([
  {
    name: 'another kind',
    text: 'kind: Pod',
    want: 'kind: must be AdmissionConfiguration in apiserver.config.k8s.io/v1 or apiserver.k8s.io/v1alpha1',
  },
  {
    name: 'an unknown plug-in',
    text: withPlugins('- name: Nope\n'),
    want: 'plugins[0].name: unknown admission plug-in Nope',
  },
  {
    name: 'a plug-in that is configured twice',
    text: withPlugins('- name: PodSecurity\n- name: PodSecurity\n'),
    want: 'plugins[1].name: PodSecurity is configured twice',
  },
  {
    name: 'a path without a file',
    text: withPlugins('- name: ResourceQuota\n  path: none.yaml\n'),
    want: /none\.yaml cannot be read/,
  },
  {
    name: 'path together with configuration',
    text: withPlugins('- name: ResourceQuota\n  path: x\n  configuration: {}\n'),
    want: 'plugins[0].path: must not be set together with configuration',
  },
  {
    name: 'an unknown level',
    text: podSecurity('    defaults: { enforce: strict }\n'),
    want: 'PodSecurity: defaults.enforce: must be one of privileged, baseline, restricted',
  },
  {
    name: 'an invalid version',
    text: podSecurity('    defaults: { warn-version: "1" }\n'),
    want: 'PodSecurity: defaults.warn-version: must be "latest" or "v1.x"',
  },
  {
    name: 'an unknown field',
    text: podSecurity('    exempt: {}\n'),
    want: 'PodSecurity: exempt: unknown field; known are apiVersion, kind, defaults, exemptions',
  },
  {
    name: 'a string where a list is expected',
    text: podSecurity('    exemptions: { namespaces: a }\n'),
    want: 'PodSecurity: exemptions.namespaces: must be a list of strings',
  },
  {
    name: 'an event limit with invalid qps and zero burst, with all problems',
    text: eventLimits('[{ type: User, qps: x, burst: 0 }]'),
    want: 'EventRateLimit: limits[0].qps: must be a whole number, zero or more; EventRateLimit: limits[0].qps: must be more than zero; EventRateLimit: limits[0].burst: must be more than zero',
  },
])('rejects $name', ({ text, want }) => {
  const at = join(directory, 'admission.yaml');
  const refusal = () => read(text);
  if (want instanceof RegExp) expect(refusal).toThrow(want);
  else expect(refusal).toThrow(`--admission-control-config-file: ${at}: ${want}`);
});
