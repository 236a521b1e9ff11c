import {
  admitted,
  attributesOf,
  KnownObjects,
  pluginDependencies,
  podOf,
  type Known,
} from '../../test/harness/admission.js';
import type { AdmissionHooks } from './admission-plugin.js';
import { builtInPlugins } from './plugins.js';

const label = (name: string, value: string) => ({ [`pod-security.kubernetes.io/${name}`]: value });
const namespace = (labels: Record<string, string> = {}) => ({ metadata: { name: 'ns', labels } });
const quota = { metadata: { name: 'q', namespace: 'ns' }, spec: { hard: { pods: '1' } }, status: { hard: { pods: '1' }, used: { pods: '9' } } }; // prettier-ignore
const range = { metadata: { name: 'r', namespace: 'ns' }, spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }, { type: 'Container', max: { cpu: '1' } }] } }; // prettier-ignore

const worlds: Readonly<Record<string, Known>> = {
  'a plain namespace': { '/namespaces': [namespace()] },
  'no such namespace': {},
  'a terminating namespace': {
    '/namespaces': [{ metadata: { name: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  },
  'a restricted namespace': { '/namespaces': [namespace({ ...label('enforce', 'restricted'), ...label('warn', 'restricted'), ...label('audit', 'restricted') })] }, // prettier-ignore
  'a namespace with a quota and limits': { '/namespaces': [namespace()], '/resourcequotas': [quota], '/limitranges': [range] }, // prettier-ignore
  'a cluster with default classes': {
    '/namespaces': [namespace()],
    'scheduling.k8s.io/priorityclasses': [{ metadata: { name: 'other' }, globalDefault: true, value: 1 }],
    'storage.k8s.io/storageclasses': [{ metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } }], // prettier-ignore
    'networking.k8s.io/ingressclasses': [{ metadata: { name: 'i', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } } }], // prettier-ignore
  },
};

const toleration = (name: string) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }); // prettier-ignore
/** A Pod as the plug-ins leave it, which violates the restricted level. */
const stored = podOf({
  nodeName: 'n',
  priority: 7,
  tolerations: [toleration('not-ready'), toleration('unreachable')],
  containers: [{ name: 'c', image: 'i', securityContext: { privileged: true }, resources: { limits: { cpu: '2' } } }],
});
const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', blockOwnerDeletion: true }];
const template = { metadata: {}, spec: stored.spec };
const objects: Readonly<Record<string, Known[string][number]>> = {
  '/pods': stored,
  '/pods/status': stored,
  '/pods/resize': stored,
  '/pods/ephemeralcontainers': stored,
  '/configmaps': { metadata: { name: 'c', ownerReferences: owners } },
  '/namespaces': { metadata: { name: 'ns', labels: label('enforce', 'nonsense') } },
  '/nodes': { metadata: { name: 'n' } },
  '/persistentvolumeclaims': { metadata: { name: 'c' }, spec: { resources: { requests: { storage: '2Gi' } } } },
  '/persistentvolumes': { metadata: { name: 'v' } },
  '/replicationcontrollers': { metadata: { name: 'r' }, spec: { template } },
  '/podtemplates': { metadata: { name: 't' }, template },
  'apps/deployments': { metadata: { name: 'd' }, spec: { template } },
  'apps/deployments/status': { metadata: { name: 'd' }, spec: { template } },
  'batch/cronjobs': { metadata: { name: 'd' }, spec: { jobTemplate: { spec: { template } } } },
  'networking.k8s.io/ingresses': { metadata: { name: 'i' } },
  'scheduling.k8s.io/priorityclasses': { metadata: { name: 'p' }, globalDefault: true },
  'rbac.authorization.k8s.io/clusterroles': { metadata: { name: 'r' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] }, // prettier-ignore
};
const users = { somebody: {}, 'a node': { name: 'system:node:m', groups: ['system:nodes'] } };
const isClusterWide = (of: string) => /nodes|volumes|namespaces|classes|cluster/.test(of);

const hooksIn = (known: Known): [string, AdmissionHooks][] =>
  builtInPlugins.flatMap((definition) => {
    const hooks = definition.make(pluginDependencies({ known: new KnownObjects(known), allowPrivileged: false }));
    return hooks ? [[definition.name, hooks]] : [];
  });
const isAbout = ({ resources }: AdmissionHooks, of: string) =>
  !resources || resources.some(({ group, resource }) => `${of}/`.startsWith(`${group}/${resource}/`));
const ignoring = new Set<string>();

const rows = Object.keys(worlds).flatMap((world) => Object.keys(objects).map((of) => ({ world, of })));
it.each(rows)(
  'plug-ins that ignore an unchanged update of $of do nothing about it, with $world',
  async ({ world, of }) => {
    for (const [name, hooks] of hooksIn(worlds[world]!)) {
      if (!isAbout(hooks, of)) continue;
      for (const user of Object.values(users)) {
        const given = { of, object: objects[of]!, old: objects[of]!, user, clusterWide: isClusterWide(of) };
        const update = { ...attributesOf(given), operation: 'UPDATE' } as const;
        if (hooks.actsOnUnchanged?.(update) !== false) continue;
        ignoring.add(name);
        const { object, ...rest } = await admitted(hooks, given);
        expect({ name, ...rest, object: { ...object } }).toEqual({ name, refused: undefined, warnings: [], audit: {}, object: { ...update.object } }); // prettier-ignore
      }
    }
  },
);

it('most plug-ins that are on by default ignore some unchanged updates', () => {
  const expected = ['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount', 'NodeRestriction', 'PodSecurity', 'Priority', 'DefaultTolerationSeconds', 'RuntimeClass', 'PersistentVolumeClaimResize', 'MutatingAdmissionPolicy', 'MutatingAdmissionWebhook', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook', 'ResourceQuota']; // prettier-ignore
  expect([...ignoring]).toEqual(expect.arrayContaining(expected));
});

it.each<[string, string, string, object]>([
  ['PodSecurity', 'a restricted namespace', 'apps/deployments', {}],
  ['ResourceQuota', 'a namespace with a quota and limits', '/pods', {}],
  ['LimitRanger', 'a namespace with a quota and limits', '/persistentvolumeclaims', {}],
  ['NodeRestriction', 'a plain namespace', '/pods', users['a node']],
  ['ServiceAccount', 'a plain namespace', '/pods/ephemeralcontainers', {}],
  ['RoleEscalation', 'a plain namespace', 'rbac.authorization.k8s.io/clusterroles', {}],
])('%s acts on an unchanged update with %s: %s', (name, world, of, user) => {
  const [, hooks] = hooksIn(worlds[world]!).find(([plugin]) => plugin === name)!;
  const update = { ...attributesOf({ of, object: objects[of]!, user, clusterWide: isClusterWide(of) }), operation: 'UPDATE' } as const; // prettier-ignore
  expect(hooks.actsOnUnchanged?.(update) ?? true).toBe(true);
});
