import { namingProfile } from '../../../config/naming-profile.js';
import { roleNameOf, ruleOf } from './rule-text.js';

const names = { kubernetes: namingProfile('kubernetes'), svc: namingProfile('svc') };

it.each<[text: string, profile: keyof typeof names, rule: object]>([
  ['get | core | pods', 'kubernetes', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  [
    'get,list | core,events.,apps | events,pods/log',
    'kubernetes',
    { verbs: ['get', 'list'], apiGroups: ['', 'events.k8s.io', 'apps'], resources: ['events', 'pods/log'] },
  ],
  ['get | custom.metrics. | *', 'svc', { verbs: ['get'], apiGroups: ['custom.metrics.svc.example'], resources: ['*'] }],
  ['* | * | *', 'kubernetes', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  ['* | *', 'kubernetes', { verbs: ['*'], nonResourceURLs: ['*'] }],
  ['get | /healthz,/livez/*', 'svc', { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez/*'] }],
  [
    'get | core | configmaps | a,b',
    'kubernetes',
    { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'] },
  ],
  [
    'sign | certificates. | signers | ~/legacy-unknown',
    'kubernetes',
    {
      verbs: ['sign'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['kubernetes.io/legacy-unknown'],
    },
  ],
])('parses %s with the naming profile %s', (text, profile, rule) => expect(ruleOf(text, names[profile])).toEqual(rule));

it.each([
  ['system:discovery', 'kubernetes', 'system:discovery'],
  ['system:{certificates.}:x-approver', 'kubernetes', 'system:certificates.k8s.io:x-approver'],
  ['system:{certificates.}:x-approver', 'svc', 'system:certificates.svc.example:x-approver'],
] as const)('expands the role name %s with the naming profile %s', (text, profile, name) =>
  expect(roleNameOf(text, names[profile])).toBe(name),
);
