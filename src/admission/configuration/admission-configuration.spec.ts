import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubernetes } from '../../../test/harness/admission.js';
import { plainConfiguration, readAdmissionConfiguration } from './admission-configuration.js';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'keelson-admission-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const featureGates = { ManifestBasedAdmissionControlConfig: true };
const read = (text: string, others: Readonly<Record<string, string>> = {}) => {
  for (const [name, other] of Object.entries(others)) writeFileSync(join(directory, name), other);
  const file = join(directory, 'admission.yaml');
  writeFileSync(file, text);
  return readAdmissionConfiguration(file, kubernetes, { ownPlugins: ['Own'], featureGates });
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
  expect(readAdmissionConfiguration(undefined, kubernetes)).toBe(plainConfiguration);
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

const nodeSelectors = (selectors: string) =>
  withPlugins(`- name: PodNodeSelector\n  configuration: { podNodeSelectorPluginConfig: ${selectors} }\n`);

it('reads the node selectors of PodNodeSelector', () => {
  const text = nodeSelectors('{ clusterDefaultNodeSelector: zone=a, constructor: "a=b, c=" }');
  expect(read(text).nodeSelectors).toEqual({
    clusterDefault: new Map([['zone', 'a']]),
    allowed: new Map([['constructor', new Map(Object.entries({ a: 'b', c: '' }))]]),
  });
});

const tolerations = (lists: string) =>
  withPlugins(`- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    ${lists}
`);

it('reads the default tolerations and the whitelist of PodTolerationRestriction', () => {
  const text = tolerations(
    'whitelist: [{ operator: Exists }, { key: a, value: b, effect: NoExecute, tolerationSeconds: -1 }]',
  );
  expect(read(text).tolerations).toEqual({
    default: [],
    whitelist: [{ operator: 'Exists' }, { key: 'a', value: 'b', effect: 'NoExecute', tolerationSeconds: -1 }],
  });
});

it('returns the configuration of a plug-in of an embedding program unparsed', () => {
  const text = withPlugins('- name: Own\n  configuration: { some: [1] }\n');
  expect([...read(text).others]).toEqual([['Own', { some: [1] }]]);
});

it('accepts a plug-in that takes no configuration without one', () => {
  const text = withPlugins('- name: Priority\n- name: ValidatingAdmissionWebhook\n  configuration: {}\n');
  expect(read(text)).toEqual(plainConfiguration);
});

const manifestDirectory = (plugin: string, kind: string, field: string) =>
  withPlugins(
    `- name: ${plugin}\n  configuration: { apiVersion: apiserver.config.k8s.io/v1, kind: ${kind}, ${field} }\n`,
  );
const webhookManifests = (path: string) =>
  manifestDirectory('ValidatingAdmissionWebhook', 'WebhookAdmissionConfiguration', `staticManifestsDir: "${path}"`);

it('reads the directories of manifests', () => {
  expect(read(webhookManifests(directory)).manifestDirectories).toEqual(
    new Map([['ValidatingAdmissionWebhook', directory]]),
  );
  const policies = manifestDirectory(
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyConfiguration',
    `staticManifestsDir: "${directory}"`,
  );
  expect(read(policies).manifestDirectories).toEqual(new Map([['MutatingAdmissionPolicy', directory]]));
});

it('rejects a directory of manifests without the feature gate', () => {
  const file = join(directory, 'gate-off.yaml');
  writeFileSync(file, webhookManifests(directory));
  expect(() => readAdmissionConfiguration(file, kubernetes)).toThrow(
    'ValidatingAdmissionWebhook: staticManifestsDir: requires the feature gate ManifestBasedAdmissionControlConfig',
  );
});

const limitedPods = (scope: string) =>
  withPlugins(`- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources: [{ resource: pods, matchScopes: [${scope}] }]
`);

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
    name: 'an event limit with invalid fields, each once',
    text: eventLimits('[{ type: 1, qps: x, burst: 0 }, {}, User]'),
    want: [
      'EventRateLimit: limits[2]: must be a mapping',
      'EventRateLimit: limits[0].type: must be one of Server, Namespace, User, SourceAndObject',
      'EventRateLimit: limits[0].qps: must be a whole number, one or more',
      'EventRateLimit: limits[0].burst: must be a whole number, one or more',
      'EventRateLimit: limits[1].type: must be one of Server, Namespace, User, SourceAndObject',
      'EventRateLimit: limits[1].qps: must be a whole number, one or more',
      'EventRateLimit: limits[1].burst: must be a whole number, one or more',
    ].join('; '),
  },
  {
    name: 'an unknown field of a quota scope',
    text: limitedPods('{ scopeName: BestEffort, opeartor: DoesNotExist }'),
    want: 'ResourceQuota: limitedResources[0].matchScopes[0].opeartor: unknown field; known are scopeName, operator, values',
  },
  {
    name: 'an unknown operator of a quota scope',
    text: limitedPods('{ scopeName: PriorityClass, operator: in, values: [a] }'),
    want: 'ResourceQuota: limitedResources[0].matchScopes[0].operator: must be one of In, NotIn, Exists, DoesNotExist',
  },
  {
    name: 'an unknown quota scope',
    text: limitedPods('{ scopeName: Priority }'),
    want: /matchScopes\[0\]\.scopeName: must be one of Terminating, /,
  },
  {
    name: 'a quota scope with operator In and without values',
    text: limitedPods('{ scopeName: PriorityClass, operator: In }'),
    want: 'ResourceQuota: limitedResources[0].matchScopes[0].values: must be set with operator In',
  },
  {
    name: 'a misspelled whitelist of tolerations',
    text: tolerations('whiteList: [{ key: a }]'),
    want: 'PodTolerationRestriction: whiteList: unknown field; known are apiVersion, kind, default, whitelist',
  },
  {
    name: 'a whitelist of tolerations that is no list',
    text: tolerations('whitelist: { key: a }'),
    want: 'PodTolerationRestriction: whitelist: must be a list',
  },
  {
    name: 'tolerations without apiVersion and kind',
    text: withPlugins('- name: PodTolerationRestriction\n  configuration: { whitelist: [] }\n'),
    want: 'PodTolerationRestriction: kind: must be Configuration in podtolerationrestriction.admission.k8s.io/v1alpha1',
  },
  {
    name: 'a toleration with an unknown field, value or combination',
    text: tolerations('default: [{ keys: a, operator: exists, value: 1, effect: Taint, tolerationSeconds: 1.5 }]'),
    want: [
      'PodTolerationRestriction: default[0].keys: unknown field; known are key, operator, value, effect, tolerationSeconds',
      'PodTolerationRestriction: default[0].operator: must be one of "", Equal, Exists',
      'PodTolerationRestriction: default[0].value: must be a string',
      'PodTolerationRestriction: default[0].effect: must be one of "", NoSchedule, PreferNoSchedule, NoExecute',
      'PodTolerationRestriction: default[0].tolerationSeconds: must be a whole number',
      'PodTolerationRestriction: default[0].operator: must be Exists without a key',
    ].join('; '),
  },
  {
    name: 'a toleration with tolerationSeconds and without the effect NoExecute',
    text: tolerations('default: [{ key: a, tolerationSeconds: 1 }]'),
    want: 'PodTolerationRestriction: default[0].effect: must be NoExecute with tolerationSeconds',
  },
  {
    name: 'a node selector without a value',
    text: nodeSelectors('{ ns: "a=b,c" }'),
    want: 'PodNodeSelector: podNodeSelectorPluginConfig.ns: must be labels like "a=b,c=d"',
  },
  {
    name: 'node selectors that are no mapping',
    text: nodeSelectors('[a=b]'),
    want: 'PodNodeSelector: podNodeSelectorPluginConfig: must be a mapping',
  },
  {
    name: 'a relative directory of manifests',
    text: webhookManifests('manifests'),
    want: 'ValidatingAdmissionWebhook: staticManifestsDir: must be an absolute path',
  },
  {
    name: 'a directory of manifests that does not exist',
    text: webhookManifests('/does/not/exist'),
    want: 'ValidatingAdmissionWebhook: staticManifestsDir: cannot be read: ENOENT',
  },
  {
    name: 'a file as the directory of manifests',
    text: webhookManifests('/dev/null'),
    want: 'ValidatingAdmissionWebhook: staticManifestsDir: must be a directory',
  },
  {
    name: 'the configuration of a policy plug-in of another kind',
    text: manifestDirectory('ValidatingAdmissionPolicy', 'WebhookAdmissionConfiguration', 'staticManifestsDir: /'),
    want: 'ValidatingAdmissionPolicy: kind: must be ValidatingAdmissionPolicyConfiguration in apiserver.config.k8s.io/v1',
  },
  {
    name: 'an unknown field of the configuration of a policy plug-in',
    text: manifestDirectory('MutatingAdmissionPolicy', 'MutatingAdmissionPolicyConfiguration', 'kubeConfigFile: x'),
    want: 'MutatingAdmissionPolicy: kubeConfigFile: unknown field; known are apiVersion, kind, staticManifestsDir',
  },
  {
    name: 'the configuration of a plug-in that takes none',
    text: withPlugins('- name: Priority\n  configuration: { a: 1 }\n'),
    want: 'plugins[0].name: Priority takes no configuration',
  },
  {
    name: 'the configuration of a plug-in that is not implemented',
    text: withPlugins('- name: ImagePolicyWebhook\n  configuration: { imagePolicy: {} }\n'),
    want: 'plugins[0].name: ImagePolicyWebhook is not implemented, so that it cannot be configured',
  },
])('rejects $name', ({ text, want }) => {
  const at = join(directory, 'admission.yaml');
  const refusal = () => read(text);
  if (want instanceof RegExp) expect(refusal).toThrow(want);
  else expect(refusal).toThrow(`--admission-control-config-file: ${at}: ${want}`);
});
