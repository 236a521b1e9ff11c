import { parseRequestInfo } from '../machinery/request-info.js';
import { decide } from './audit-policy.js';
import { readAuditPolicy } from './read-audit-policy.js';

// Audit policies that distributions and guides publish, rebuilt in our own spelling: each has the rules of its origin that
// decide about its rows.

const knownGroups = [
  ...[
    '""',
    'admissionregistration.k8s.io',
    'apiextensions.k8s.io',
    'apiregistration.k8s.io',
    'apps',
    'authentication.k8s.io',
  ],
  ...['authorization.k8s.io', 'autoscaling', 'batch', 'certificates.k8s.io', 'extensions', 'metrics.k8s.io'],
  ...['networking.k8s.io', 'policy', 'rbac.authorization.k8s.io', 'storage.k8s.io'],
].map((group) => `{group: ${group}}`);

/** Rules that the scripts of Google Compute Engine begin with, and most distributions have copied. */
const quietComponents = `
- {level: None, users: [system:kube-proxy], verbs: [watch], resources: [{resources: [endpoints, services, services/status]}]}
- {level: None, users: [system:unsecured], namespaces: [kube-system], verbs: [get], resources: [{resources: [configmaps]}]}
- {level: None, users: [kubelet], verbs: [get], resources: [{resources: [nodes, nodes/status]}]}
- {level: None, userGroups: [system:nodes], verbs: [get], resources: [{resources: [nodes, nodes/status]}]}
- {level: None, users: [system:kube-controller-manager, system:kube-scheduler, system:serviceaccount:kube-system:endpoint-controller], verbs: [get, update], namespaces: [kube-system], resources: [{resources: [endpoints]}]}
- {level: None, users: [system:apiserver], verbs: [get], resources: [{resources: [namespaces, namespaces/status, namespaces/finalize]}]}
- {level: None, users: [system:kube-controller-manager], verbs: [get, list], resources: [{group: metrics.k8s.io}]}
- {level: None, nonResourceURLs: ["/healthz*", /version, "/swagger*"]}
- {level: None, resources: [{resources: [events]}]}`;

const nodeStatus = `
- {level: Request, omitStages: [RequestReceived], users: [kubelet, system:node-problem-detector, system:serviceaccount:kube-system:node-problem-detector], verbs: [update, patch], resources: [{resources: [nodes/status, pods/status]}]}
- {level: Request, omitStages: [RequestReceived], userGroups: [system:nodes], verbs: [update, patch], resources: [{resources: [nodes/status, pods/status]}]}
- {level: Request, omitStages: [RequestReceived], users: [system:serviceaccount:kube-system:namespace-controller], verbs: [deletecollection]}`;

const knownApis = `
- {level: Request, omitStages: [RequestReceived], verbs: [get, list, watch], resources: [${knownGroups.join(', ')}]}
- {level: RequestResponse, omitStages: [RequestReceived], resources: [${knownGroups.join(', ')}]}
- {level: Metadata, omitStages: [RequestReceived]}`;

const secretsOf = (resources: string) => `
- {level: Metadata, omitStages: [RequestReceived], resources: [{resources: [${resources}]}, {group: authentication.k8s.io, resources: [tokenreviews]}]}`;

const kubermaticChanges = `
- {level: RequestResponse, verbs: [create, delete, update, patch], resources: [{resources: [pods]}, {group: apps, resources: [deployments, statefulsets, daemonsets, replicasets]}, {group: cluster.k8s.io, resources: [machines, machinesets, machinedeployments]}, {group: templates.gatekeeper.sh}, {resources: [secrets], resourceNames: [usersshkeys]}]}`;

const openShiftBase = `omitManagedFields: true
omitStages: [RequestReceived]
rules:
- {level: None, userGroups: [system:authenticated, system:unauthenticated], nonResourceURLs: ["/api*", /version, /healthz, /readyz, /livez]}
- {level: None, users: [system:apiserver], resources: [{group: apiserver.openshift.io, resources: [apirequestcounts, apirequestcounts/*]}], namespaces: [""]}`;
/** `more` are further entries of resources whose content is not recorded. */
const openShiftSecrets = (more: string) => `
- {level: Metadata, resources: [{group: route.openshift.io, resources: [routes, routes/status]}, {resources: [secrets, serviceaccounts/token]}, {group: authentication.k8s.io, resources: [tokenreviews, tokenrequests]}, {group: oauth.openshift.io, resources: [oauthclients, tokenreviews]}${more}]}`;

/** The groups of the users in the rows. */
const groups: Record<string, string[]> = {
  'system:node:n': ['system:nodes', 'system:authenticated'],
  'system:anonymous': ['system:unauthenticated'],
  'system:serviceaccount:kube-system:namespace-controller': [
    'system:serviceaccounts',
    'system:serviceaccounts:kube-system',
    'system:authenticated',
  ],
};

interface Published {
  readonly origin: string;
  readonly policy: string;
  /** `user METHOD URL: level`, each with `*` if the stage RequestReceived is recorded. */
  readonly rows: readonly string[];
}

const gceRows = [
  'system:kube-proxy GET /api/v1/endpoints?watch=1: None',
  'system:kube-proxy GET /api/v1/services?watch=true&limit=5: None',
  'alice GET /api/v1/services?watch=1: Request',
  'system:kube-proxy GET /api/v1/pods?watch=1: Request',
  'kubelet GET /api/v1/nodes/n: None',
  'system:node:n GET /api/v1/nodes/n/status: None',
  'system:node:n GET /api/v1/nodes: Request',
  'system:kube-scheduler PUT /api/v1/namespaces/kube-system/endpoints/s: None',
  'system:kube-scheduler PUT /api/v1/namespaces/default/endpoints/s: RequestResponse',
  'system:apiserver GET /api/v1/namespaces/default: None',
  'system:apiserver GET /api/v1/namespaces/default/finalize: None',
  'system:unsecured GET /api/v1/namespaces/kube-system/configmaps/ingress-uid: None',
  'system:kube-controller-manager GET /apis/metrics.k8s.io/v1beta1/pods: None',
  'alice GET /healthz/etcd: None',
  'alice GET /version: None',
  'alice GET /metrics: Metadata',
  'alice POST /api/v1/namespaces/default/events: None',
  'alice POST /apis/events.k8s.io/v1/namespaces/default/events: Metadata',
  'alice POST /api/v1/namespaces/default/secrets: Metadata',
  'alice GET /api/v1/namespaces/default/configmaps/c: Metadata',
  'alice POST /apis/authentication.k8s.io/v1/tokenreviews: Metadata',
  'alice POST /apis/apps/v1/namespaces/default/deployments: RequestResponse',
  'alice POST /apis/example.com/v1/namespaces/default/widgets: Metadata',
];

const published: readonly Published[] = [
  {
    origin: 'the documentation of Kubernetes (content/en/examples/audit/audit-policy.yaml)',
    policy: `omitStages: [RequestReceived]
rules:
- {level: RequestResponse, resources: [{group: "", resources: [pods]}]}
- {level: Metadata, resources: [{group: "", resources: [pods/log, pods/status]}]}
- {level: None, resources: [{group: "", resources: [configmaps], resourceNames: [controller-leader]}]}
- {level: None, users: [system:kube-proxy], verbs: [watch], resources: [{group: "", resources: [endpoints, services]}]}
- {level: None, userGroups: [system:authenticated], nonResourceURLs: ["/api*", /version]}
- {level: Request, resources: [{group: "", resources: [configmaps]}], namespaces: [kube-system]}
- {level: Metadata, resources: [{group: "", resources: [secrets, configmaps]}]}
- {level: Request, resources: [{group: ""}, {group: extensions}]}
- {level: Metadata, omitStages: [RequestReceived]}`,
    rows: [
      'alice POST /api/v1/namespaces/default/pods: RequestResponse',
      'alice GET /api/v1/namespaces/default/pods/p/log: Metadata',
      'alice POST /api/v1/namespaces/default/pods/p/exec: Request',
      'alice GET /api/v1/namespaces/kube-system/configmaps/controller-leader: None',
      'system:kube-proxy GET /api/v1/endpoints?watch=1: None',
      'system:kube-proxy GET /api/v1/endpoints: Request',
      'alice GET /api/v1: None',
      'alice GET /apis/apps/v1: None',
      'system:anonymous GET /version: Metadata',
      'alice PUT /api/v1/namespaces/kube-system/configmaps/c: Request',
      'alice PUT /api/v1/namespaces/default/configmaps/c: Metadata',
      'alice GET /api/v1/secrets: Metadata',
      'alice GET /api/v1/nodes: Request',
      'alice GET /apis/apps/v1/deployments: Metadata',
    ],
  },
  {
    origin: 'the scripts of Google Compute Engine (cluster/gce/gci/configure-helper.sh)',
    policy: `rules:${quietComponents}${nodeStatus}${secretsOf('secrets, configmaps, serviceaccounts/token')}${knownApis}`,
    rows: [
      ...gceRows,
      'alice POST /api/v1/namespaces/default/serviceaccounts/a/token: Metadata',
      'system:node:n PATCH /api/v1/nodes/n/status: Request',
      'system:node:n PATCH /api/v1/nodes/n: RequestResponse',
      'system:serviceaccount:kube-system:namespace-controller DELETE /api/v1/namespaces/a/pods: Request',
      'alice DELETE /api/v1/namespaces/a/pods: RequestResponse',
    ],
  },
  {
    origin: 'kubespray (apiserver-audit-policy.yaml.j2)',
    policy: `rules:${quietComponents}${secretsOf('secrets, configmaps, serviceaccounts/token')}${knownApis}`,
    rows: [...gceRows, 'system:node:n PATCH /api/v1/nodes/n/status: RequestResponse'],
  },
  {
    origin: 'Amazon EKS (its guide of best practices)',
    policy: `rules:
- {level: RequestResponse, omitStages: [RequestReceived], namespaces: [kube-system], verbs: [update, patch, delete], resources: [{resources: [configmaps], resourceNames: [aws-auth]}]}${quietComponents}${nodeStatus}${secretsOf('secrets, configmaps')}${knownApis}`,
    rows: [
      ...gceRows,
      'alice PATCH /api/v1/namespaces/kube-system/configmaps/aws-auth: RequestResponse',
      'alice GET /api/v1/namespaces/kube-system/configmaps/aws-auth: Metadata',
      'alice PATCH /api/v1/namespaces/default/configmaps/aws-auth: Metadata',
      'alice POST /api/v1/namespaces/default/serviceaccounts/a/token: RequestResponse',
    ],
  },
  {
    origin: 'OpenShift, profile Default (openshift/library-go)',
    policy: `${openShiftBase}
- {level: RequestResponse, verbs: [create, update, patch, delete], resources: [{group: user.openshift.io, resources: [identities]}, {group: oauth.openshift.io, resources: [oauthaccesstokens, oauthauthorizetokens]}]}
- {level: Metadata, omitStages: [RequestReceived]}`,
    rows: [
      'alice GET /api/v1/events: Metadata',
      'system:anonymous GET /apis: None',
      'alice GET /healthz: None',
      'alice GET /healthz/etcd: Metadata',
      'system:apiserver PUT /apis/apiserver.openshift.io/v1/apirequestcounts/pods.v1: None',
      'system:apiserver PUT /apis/apiserver.openshift.io/v1/apirequestcounts/pods.v1/status: None',
      'alice POST /apis/oauth.openshift.io/v1/oauthaccesstokens: RequestResponse',
      'alice GET /apis/oauth.openshift.io/v1/oauthaccesstokens: Metadata',
      'alice POST /api/v1/namespaces/a/pods: Metadata',
    ],
  },
  {
    origin: 'OpenShift, profile WriteRequestBodies (openshift/library-go)',
    policy: `${openShiftBase}${openShiftSecrets('')}
- {level: RequestResponse, verbs: [update, patch, create, delete, deletecollection]}
- {level: Metadata, omitStages: [RequestReceived]}`,
    rows: [
      'alice POST /api/v1/namespaces/a/secrets: Metadata',
      'alice POST /apis/route.openshift.io/v1/namespaces/a/routes: Metadata',
      'alice PUT /apis/route.openshift.io/v1/namespaces/a/routes/r/status: Metadata',
      'alice PUT /apis/route.openshift.io/v1/namespaces/a/routes/r/custom-host: RequestResponse',
      'alice DELETE /api/v1/namespaces/a/pods: RequestResponse',
      'alice GET /api/v1/namespaces/a/pods: Metadata',
      'alice POST /unknown: Metadata',
    ],
  },
  {
    origin: 'OpenShift, profile AllRequestBodies (openshift/library-go, without its misspelled field)',
    policy: `${openShiftBase}${openShiftSecrets(', {group: machineconfiguration.openshift.io, resources: [machineconfig, controllerconfig]}')}
- {level: RequestResponse}`,
    rows: [
      'alice GET /api/v1/namespaces/a/pods: RequestResponse',
      'alice GET /api/v1/secrets: Metadata',
      'alice POST /apis/authentication.k8s.io/v1/tokenreviews: Metadata',
      'alice GET /apis/machineconfiguration.openshift.io/v1/machineconfigs: RequestResponse',
      'alice GET /openapi/v2: RequestResponse',
      'alice GET /version: None',
    ],
  },
  {
    origin: 'OpenShift, profile None',
    policy: 'rules: [{level: None}]',
    rows: ['alice POST /api/v1/namespaces/a/pods: None', 'system:anonymous GET /version: None'],
  },
  {
    origin: 'Talos and RKE, and the preset metadata of Kubermatic',
    policy: 'rules: [{level: Metadata}]',
    rows: ['alice POST /api/v1/namespaces/a/secrets: Metadata*', 'system:anonymous GET /readyz: Metadata*'],
  },
  {
    origin: 'AKS engine, with the rules of the DISA STIG',
    policy: 'rules: [{level: RequestResponse}]',
    rows: ['alice GET /api/v1/secrets: RequestResponse*', 'alice GET /version: RequestResponse*'],
  },
  {
    origin: 'Kubermatic, preset minimal',
    policy: `omitStages: [RequestReceived]
rules:${kubermaticChanges}
- {level: Request, resources: [{resources: [pods/exec, pods/portforward, pods/proxy, services/proxy]}]}
- {level: Metadata, resources: [{resources: [pods/log]}, {resources: [secrets, configmaps]}]}`,
    rows: [
      'alice POST /api/v1/namespaces/a/pods: RequestResponse',
      'alice GET /api/v1/namespaces/a/pods: None',
      'alice DELETE /api/v1/namespaces/a/pods: None',
      'alice PUT /api/v1/namespaces/a/secrets/usersshkeys: RequestResponse',
      'alice PUT /api/v1/namespaces/a/secrets/other: Metadata',
      'alice GET /api/v1/namespaces/a/pods/p/log: Metadata',
      'alice POST /apis/templates.gatekeeper.sh/v1/constrainttemplates: RequestResponse',
      'alice PUT /apis/templates.gatekeeper.sh/v1/constrainttemplates/c/status: RequestResponse',
      'alice POST /api/v1/namespaces/a/pods/p/exec?command=ls: Request',
      'alice GET /api/v1/namespaces/a/services/s/proxy/deep/path: Request',
      'alice PUT /apis/apps/v1/namespaces/a/deployments/d/scale: None',
    ],
  },
  {
    origin: 'Kubermatic, preset recommended',
    policy: `omitStages: [RequestReceived]
rules:${kubermaticChanges}
- {level: RequestResponse, resources: [{resources: [pods/exec, pods/portforward, pods/proxy, services/proxy]}]}
- {level: Metadata, omitStages: [RequestReceived]}`,
    rows: [
      'system:kube-proxy GET /api/v1/services?watch=1: Metadata',
      'alice PUT /api/v1/namespaces/a/secrets/usersshkeys: RequestResponse',
      'alice POST /apis/apps/v1/namespaces/a/deployments: RequestResponse',
      'alice POST /api/v1/namespaces/a/pods/p/portforward: RequestResponse',
      'alice GET /livez: Metadata',
    ],
  },
];

describe.each(published)('the audit policy of $origin', ({ policy, rows }) => {
  const read = readAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${policy}\n`, {
    file: 'policy.yaml',
    group: 'audit.k8s.io',
  });
  it.each(rows)('%s', (row) => {
    const [, name = '', method = '', url = '', wanted] = /^(\S+) (\S+) (\S+): (\S+)$/.exec(row)!;
    const user = { name, groups: groups[name] ?? ['system:authenticated'] };
    const { level, omitStages } = decide(read, parseRequestInfo(method, url), user);
    const isReceived = level !== 'None' && !omitStages.has('RequestReceived');
    expect(`${level}${isReceived ? '*' : ''}`).toBe(wanted);
  });
});

it('the misspelled field of the profile AllRequestBodies of OpenShift is refused by its name', () => {
  const misspelled =
    '{level: Metadata, resources: [{group: machineconfiguration.openshift.io, resource: [machineconfig]}]}';
  const text = `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [${misspelled}]`;
  expect(() => readAuditPolicy(text, { file: 'policy.yaml', group: 'audit.k8s.io' })).toThrow(
    'rules[0].resources[0].resource: unknown field; known are group, resources, resourceNames',
  );
});
