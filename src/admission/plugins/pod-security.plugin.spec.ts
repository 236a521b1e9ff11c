import { admitted, pluginParts, podOf } from '../../../test/harness/admission.js';
import { plainConfiguration } from '../configuration/admission-configuration.js';
import { plainPodSecurity } from '../configuration/pod-security.configuration.js';
import { podSecurity } from './pod-security.plugin.js';

type Labels = Readonly<Record<string, string>>;
const labelled = (labels: Labels) =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]));
const inNamespace = (labels: Labels, more: object = {}) => ({
  known: { '/namespaces': [{ metadata: { name: 'ns', labels: labelled(labels) } }], ...more },
});
const privileged = podOf({ containers: [{ name: 'c', securityContext: { privileged: true } }] });
const privilegedWith = (spec: object) => ({ ...privileged, spec: { ...privileged.spec, ...spec } });
const restricted = podOf({
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [{ name: 'c', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
});
const of = 'apps/deployments';
const deployment = { metadata: { name: 'd' }, spec: { template: { spec: privileged.spec } } };
const isPrivileged = 'privileged (container "c" must not set securityContext.privileged=true)';

describe('a Pod', () => {
  it.each([
    { name: 'of a namespace that says nothing', labels: {}, object: privileged, refused: undefined, warnings: [] },
    {
      name: 'that may do too much',
      labels: { enforce: 'baseline' },
      object: privileged,
      refused: `violates PodSecurity "baseline:latest": ${isPrivileged}`,
      warnings: [],
    },
    {
      name: 'that may do what it may',
      labels: { enforce: 'restricted' },
      object: restricted,
      refused: undefined,
      warnings: [],
    },
    {
      name: 'that is only warned of',
      labels: { warn: 'baseline' },
      object: privileged,
      refused: undefined,
      warnings: [`would violate PodSecurity "baseline:latest": ${isPrivileged}`],
    },
    {
      name: 'of an older policy',
      labels: { enforce: 'baseline', 'enforce-version': 'v1.20' },
      object: privileged,
      refused: `violates PodSecurity "baseline:v1.20": ${isPrivileged}`,
      warnings: [],
    },
    {
      name: 'under labels that nobody understands',
      labels: { enforce: 'strict' },
      object: privileged,
      refused: expect.stringContaining('violates PodSecurity "restricted:latest"'),
      warnings: [],
    },
  ])('$name', async ({ labels, object, refused, warnings }) => {
    expect(await admitted(podSecurity(pluginParts(inNamespace(labels))), { object })).toMatchObject({
      refused,
      warnings,
    });
  });

  it('is noted for the audit log', async () => {
    const plugin = podSecurity(pluginParts(inNamespace({ audit: 'baseline' })));
    expect((await admitted(plugin, { object: privileged })).audit).toEqual({
      'pod-security.kubernetes.io/audit-violations': `would violate PodSecurity "baseline:latest": ${isPrivileged}`,
      'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
    });
  });

  // prettier-ignore
  it.each<{ name: string; of: string; object: typeof privileged; before?: object; isRefused: boolean }>([
    { name: 'when it is only relabelled', of: '/pods', object: privileged, isRefused: false },
    {
      name: 'when a profile is changed',
      of: '/pods',
      object: {
        ...privileged,
        metadata: { name: 'p', annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } },
      },
      isRefused: true,
    },
    { name: 'when its image is changed', of: '/pods', object: privilegedWith({ containers: [{ ...privileged.spec.containers[0]!, image: 'j' }] }), isRefused: true },
    { name: 'when an image of its init containers is changed', of: '/pods', object: privilegedWith({ initContainers: [{ name: 'i', image: 'j' }] }), before: { initContainers: [{ name: 'i', image: 'i' }] }, isRefused: true },
    { name: 'when it is to be looked into', of: '/pods/ephemeralcontainers', object: privilegedWith({ ephemeralContainers: [{ name: 'd', image: 'd' }] }), isRefused: true },
    { name: 'when it could be looked into', of: '/pods/ephemeralcontainers', object: privileged, isRefused: false },
    { name: 'when it is resized', of: '/pods/resize', object: privilegedWith({ containers: [{ ...privileged.spec.containers[0]!, resources: { limits: { cpu: '1' } } }] }), isRefused: false },
    { name: 'when its node tells of it', of: '/pods/status', object: privileged, isRefused: false },
  ])('that is there is looked at again $name: $isRefused', async ({ of: resource, object, isRefused, before = {} }) => {
    const plugin = podSecurity(pluginParts(inNamespace({ enforce: 'baseline' })));
    const { refused } = await admitted(plugin, { of: resource, object, old: privilegedWith(before) });
    expect(refused !== undefined).toBe(isRefused);
  });
});

describe('what makes Pods', () => {
  it.each([
    { name: 'is never refused, and warned of what is enforced', labels: { enforce: 'baseline' }, count: 1 },
    {
      name: 'is not warned where another level is said',
      labels: { enforce: 'baseline', warn: 'privileged' },
      count: 0,
    },
    { name: 'is warned of a stricter level', labels: { warn: 'restricted' }, count: 1 },
  ])('$name', async ({ labels, count }) => {
    const outcome = await admitted(podSecurity(pluginParts(inNamespace(labels))), { of, object: deployment });
    expect([outcome.refused, outcome.warnings.length]).toEqual([undefined, count]);
  });

  it.each([
    ['/podtemplates', { template: { spec: privileged.spec } }],
    ['batch/cronjobs', { spec: { jobTemplate: { spec: { template: { spec: privileged.spec } } } } }],
    ['/replicationcontrollers', { spec: { template: { spec: privileged.spec } } }],
  ])('is found in %s', async (resource, object) => {
    const plugin = podSecurity(pluginParts(inNamespace({ enforce: 'baseline' })));
    expect(
      (await admitted(plugin, { of: resource, object: { metadata: { name: 'x' }, ...object } })).warnings,
    ).toHaveLength(1);
  });
});

describe('a namespace', () => {
  const namespace = (labels: Labels) => ({ metadata: { name: 'ns', labels: labelled(labels) } });
  const pods = [
    { ...privileged, metadata: { name: 'b', namespace: 'ns' } },
    { ...privileged, metadata: { name: 'a', namespace: 'ns' } },
    { ...restricted, metadata: { name: 'good', namespace: 'ns' } },
  ];
  const admit = (next: Labels, before?: Labels) =>
    admitted(podSecurity(pluginParts({ known: { '/pods': pods } })), {
      of: '/namespaces',
      clusterWide: true,
      object: namespace(next),
      ...(before && { old: namespace(before) }),
    });

  it.each([
    {
      name: 'a level that is none',
      labels: { enforce: 'x' },
      want: 'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    },
    {
      name: 'a version that is none',
      labels: { 'warn-version': '1.20' },
      want: 'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.20": must be "latest" or "v1.x"',
    },
    { name: 'not what was wrong before', labels: { enforce: 'x' }, before: { enforce: 'x' }, want: undefined },
  ])('refuses $name', async ({ labels, before, want }) => {
    expect((await admit(labels, before)).refused).toBe(want);
  });

  it.each([
    {
      name: 'tells of the Pods that would not be let in again',
      next: { enforce: 'baseline' },
      before: {},
      want: [
        'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 1 other pod): privileged',
      ],
    },
    {
      name: 'says nothing when it lets in more',
      next: { enforce: 'baseline' },
      before: { enforce: 'restricted' },
      want: [],
    },
    {
      name: 'says nothing when it stays as it is',
      next: { enforce: 'baseline' },
      before: { enforce: 'baseline' },
      want: [],
    },
  ])('$name', async ({ next, before, want }) => {
    expect((await admit(next, before)).warnings).toEqual(want);
  });
});

describe('nothing holds', () => {
  const exemptions = { usernames: new Set(['root']), runtimeClasses: new Set(['vm']), namespaces: new Set(['ns']) };
  const none = plainPodSecurity.exemptions;
  it.each([
    {
      name: 'for some users',
      some: { ...none, usernames: exemptions.usernames },
      write: { user: { name: 'root' } },
      want: 'user',
    },
    { name: 'in some namespaces', some: { ...none, namespaces: exemptions.namespaces }, write: {}, want: 'namespace' },
    {
      name: 'in some sandboxes',
      some: { ...none, runtimeClasses: exemptions.runtimeClasses },
      write: { object: podOf({ ...privileged.spec, runtimeClassName: 'vm' }) },
      want: 'runtimeClass',
    },
  ])('$name', async ({ some, write, want }) => {
    const configuration = { ...plainConfiguration, podSecurity: { ...plainPodSecurity, exemptions: some } };
    const plugin = podSecurity(pluginParts({ ...inNamespace({ enforce: 'restricted' }), configuration }));
    const { refused, audit } = await admitted(plugin, { object: privileged, ...write });
    expect([refused, audit['pod-security.kubernetes.io/exempt']]).toEqual([undefined, want]);
  });

  it('but the server may say what holds for namespaces that say nothing', async () => {
    const defaults = { ...plainPodSecurity.defaults, enforce: { level: 'baseline', version: 'latest' } as const };
    const configuration = { ...plainConfiguration, podSecurity: { ...plainPodSecurity, defaults } };
    const { refused } = await admitted(podSecurity(pluginParts({ ...inNamespace({}), configuration })), {
      object: privileged,
    });
    expect(refused).toBe(`violates PodSecurity "baseline:latest": ${isPrivileged}`);
  });
});
