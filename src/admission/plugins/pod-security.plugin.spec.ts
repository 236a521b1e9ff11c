import { admitted, hooksOf, KnownObjects, podOf } from '../../../test/harness/admission.js';
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
    {
      name: 'in a namespace without labels is accepted',
      labels: {},
      object: privileged,
      refused: undefined,
      warnings: [],
    },
    {
      name: 'that violates the enforced level is refused',
      labels: { enforce: 'baseline' },
      object: privileged,
      refused: `violates PodSecurity "baseline:latest": ${isPrivileged}`,
      warnings: [],
    },
    {
      name: 'that conforms to the enforced level is accepted',
      labels: { enforce: 'restricted' },
      object: restricted,
      refused: undefined,
      warnings: [],
    },
    {
      name: 'that violates the warn level is accepted with a warning',
      labels: { warn: 'baseline' },
      object: privileged,
      refused: undefined,
      warnings: [`would violate PodSecurity "baseline:latest": ${isPrivileged}`],
    },
    {
      name: 'that violates an enforced older version is refused',
      labels: { enforce: 'baseline', 'enforce-version': 'v1.20' },
      object: privileged,
      refused: `violates PodSecurity "baseline:v1.20": ${isPrivileged}`,
      warnings: [],
    },
    {
      name: 'is checked as restricted if the enforce label is invalid',
      labels: { enforce: 'strict' },
      object: privileged,
      refused: expect.stringContaining('violates PodSecurity "restricted:latest"'),
      warnings: [],
    },
  ])('$name', async ({ labels, object, refused, warnings }) => {
    expect(await admitted(hooksOf(podSecurity, inNamespace(labels)), { object })).toMatchObject({
      refused,
      warnings,
    });
  });

  it('that violates the audit level gets audit annotations', async () => {
    const plugin = hooksOf(podSecurity, inNamespace({ audit: 'baseline' }));
    expect((await admitted(plugin, { object: privileged })).audit).toEqual({
      'pod-security.kubernetes.io/audit-violations': `would violate PodSecurity "baseline:latest": ${isPrivileged}`,
      'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
    });
  });

  // prettier-ignore
  it.each<{ name: string; of: string; object: typeof privileged; before?: object; isRefused: boolean }>([
    { name: 'metadata', of: '/pods', object: privileged, isRefused: false },
    {
      name: 'a security profile',
      of: '/pods',
      object: {
        ...privileged,
        metadata: { name: 'p', annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } },
      },
      isRefused: true,
    },
    { name: 'the image of a container', of: '/pods', object: privilegedWith({ containers: [{ ...privileged.spec.containers[0]!, image: 'j' }] }), isRefused: true },
    { name: 'the image of an init container', of: '/pods', object: privilegedWith({ initContainers: [{ name: 'i', image: 'j' }] }), before: { initContainers: [{ name: 'i', image: 'i' }] }, isRefused: true },
    { name: 'a new ephemeral container', of: '/pods/ephemeralcontainers', object: privilegedWith({ ephemeralContainers: [{ name: 'd', image: 'd' }] }), isRefused: true },
    { name: 'no ephemeral container', of: '/pods/ephemeralcontainers', object: privileged, isRefused: false },
    { name: 'its resources by resize', of: '/pods/resize', object: privilegedWith({ containers: [{ ...privileged.spec.containers[0]!, resources: { limits: { cpu: '1' } } }] }), isRefused: false },
    { name: 'its status', of: '/pods/status', object: privileged, isRefused: false },
  ])('that violates the level and changes $name is refused: $isRefused', async ({ of: resource, object, isRefused, before = {} }) => {
    const plugin = hooksOf(podSecurity, inNamespace({ enforce: 'baseline' }));
    const { refused } = await admitted(plugin, { of: resource, object, old: privilegedWith(before) });
    expect(refused !== undefined).toBe(isRefused);
  });
});

describe('a workload with a Pod template', () => {
  it.each([
    { name: 'gets a warning for the enforced level, and is not refused', labels: { enforce: 'baseline' }, count: 1 },
    {
      name: 'gets no warning if the warn label is privileged',
      labels: { enforce: 'baseline', warn: 'privileged' },
      count: 0,
    },
    { name: 'gets a warning for the warn level', labels: { warn: 'restricted' }, count: 1 },
  ])('$name', async ({ labels, count }) => {
    const outcome = await admitted(hooksOf(podSecurity, inNamespace(labels)), { of, object: deployment });
    expect([outcome.refused, outcome.warnings.length]).toEqual([undefined, count]);
  });

  it.each([
    ['/podtemplates', { template: { spec: privileged.spec } }],
    ['batch/cronjobs', { spec: { jobTemplate: { spec: { template: { spec: privileged.spec } } } } }],
    ['/replicationcontrollers', { spec: { template: { spec: privileged.spec } } }],
  ])('gets a warning in %s', async (resource, object) => {
    const plugin = hooksOf(podSecurity, inNamespace({ enforce: 'baseline' }));
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
    admitted(hooksOf(podSecurity, { known: { '/pods': pods } }), {
      of: '/namespaces',
      clusterWide: true,
      object: namespace(next),
      ...(before && { old: namespace(before) }),
    });

  it.each([
    {
      name: 'an invalid level',
      labels: { enforce: 'x' },
      want: 'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    },
    {
      name: 'an invalid version',
      labels: { 'warn-version': '1.20' },
      want: 'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.20": must be "latest" or "v1.x"',
    },
    {
      name: 'no invalid label that does not change',
      labels: { enforce: 'x' },
      before: { enforce: 'x' },
      want: undefined,
    },
  ])('refuses $name', async ({ labels, before, want }) => {
    expect((await admit(labels, before)).refused).toBe(want);
  });

  it.each([
    {
      name: 'with a stricter level gets warnings about violating Pods',
      next: { enforce: 'baseline' },
      before: {},
      want: [
        'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 1 other pod): privileged',
      ],
    },
    {
      name: 'with a less strict level gets no warnings',
      next: { enforce: 'baseline' },
      before: { enforce: 'restricted' },
      want: [],
    },
    {
      name: 'with the same level gets no warnings',
      next: { enforce: 'baseline' },
      before: { enforce: 'baseline' },
      want: [],
    },
  ])('$name', async ({ next, before, want }) => {
    expect((await admit(next, before)).warnings).toEqual(want);
  });
});

it('a namespace with more Pods than are checked gets a warning, and the others are not even parsed', async () => {
  const known = new KnownObjects({
    '/pods': Array.from({ length: 5000 }, (_, i) =>
      podOf({ hostNetwork: i >= 3000 }, { name: `p${i}`, namespace: 'ns' }),
    ),
  });
  const plugin = hooksOf(podSecurity, { known });
  const namespace = (labels: Record<string, string>) => ({ metadata: { name: 'ns', labels } });
  const next = namespace({ 'pod-security.kubernetes.io/enforce': 'baseline' });
  const { warnings } = await admitted(plugin, {
    of: '/namespaces',
    object: next,
    old: namespace({}),
    clusterWide: true,
  });
  expect(warnings).toEqual(['new PodSecurity enforce level only checked against the first 3000 of 5000 existing pods']);
  expect(known.scanned).toBe(3000);
});

describe('exemptions and defaults of the configuration', () => {
  const exemptions = { usernames: new Set(['root']), runtimeClasses: new Set(['vm']), namespaces: new Set(['ns']) };
  const none = plainPodSecurity.exemptions;
  it.each([
    {
      name: 'exempts users',
      some: { ...none, usernames: exemptions.usernames },
      write: { user: { name: 'root' } },
      want: 'user',
    },
    { name: 'exempts namespaces', some: { ...none, namespaces: exemptions.namespaces }, write: {}, want: 'namespace' },
    {
      name: 'exempts runtime classes',
      some: { ...none, runtimeClasses: exemptions.runtimeClasses },
      write: { object: podOf({ ...privileged.spec, runtimeClassName: 'vm' }) },
      want: 'runtimeClass',
    },
  ])('$name', async ({ some, write, want }) => {
    const configuration = { ...plainConfiguration, podSecurity: { ...plainPodSecurity, exemptions: some } };
    const plugin = hooksOf(podSecurity, { ...inNamespace({ enforce: 'restricted' }), configuration });
    const { refused, audit } = await admitted(plugin, { object: privileged, ...write });
    expect([refused, audit['pod-security.kubernetes.io/exempt']]).toEqual([undefined, want]);
  });

  it('enforces the default level in namespaces without labels', async () => {
    const defaults = { ...plainPodSecurity.defaults, enforce: { level: 'baseline', version: 'latest' } as const };
    const configuration = { ...plainConfiguration, podSecurity: { ...plainPodSecurity, defaults } };
    const { refused } = await admitted(hooksOf(podSecurity, { ...inNamespace({}), configuration }), {
      object: privileged,
    });
    expect(refused).toBe(`violates PodSecurity "baseline:latest": ${isPrivileged}`);
  });
});
