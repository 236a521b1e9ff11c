import {
  expectPodErrors,
  notDnsLabel,
  notDnsSubdomain,
  notIp,
  pod,
  podErrors,
  type PodRow,
} from '../../../../test/harness/pods.js';

it.each<PodRow>([
  [
    'ephemeralContainers on create',
    pod({ ephemeralContainers: [{ name: 'e', image: 'j' }] }),
    ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  ],
  [
    'bad restartPolicy',
    pod({ restartPolicy: 'Maybe' }),
    ['spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    'bad dnsPolicy',
    pod({ dnsPolicy: 'Maybe' }),
    [
      'spec.dnsPolicy: Unsupported value: "Maybe": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  ],
  [
    'dnsPolicy None without config',
    pod({ dnsPolicy: 'None' }),
    ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  ],
  [
    'too many nameservers',
    pod({ dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } }),
    [
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
    ],
  ],
  [
    'nameserver that is no IP address',
    pod({ dnsConfig: { nameservers: ['x'] } }),
    [`spec.dnsConfig.nameservers[0]: Invalid value: "x": ${notIp}`],
  ],
  [
    'dns option without name',
    pod({ dnsConfig: { options: [{ value: '1' }] } }),
    ['spec.dnsConfig.options[0]: Required value: must not be empty'],
  ],
  [
    'bad dns search',
    pod({ dnsConfig: { searches: ['bad_!'] } }),
    [
      "spec.dnsConfig.searches[0]: Invalid value: \"bad_!\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    'activeDeadlineSeconds 0',
    pod({ activeDeadlineSeconds: 0 }),
    ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
  ],
  ['bad hostname', pod({ hostname: 'A_' }), [`spec.hostname: Invalid value: "A_": ${notDnsLabel}`]],
  ['bad subdomain', pod({ subdomain: 'a.b' }), ['spec.subdomain: Invalid value: "a.b": must not contain dots']],
  [
    'hostAliases with bad ip',
    pod({ hostAliases: [{ ip: 'x' }] }),
    [`spec.hostAliases[0].ip: Invalid value: "x": ${notIp}`],
  ],
  [
    'hostAliases with bad name',
    pod({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['A_'] }] }),
    [`spec.hostAliases[0].hostnames[0]: Invalid value: "A_": ${notDnsSubdomain}`],
  ],
  [
    'resource claim with two sources',
    pod({ resourceClaims: [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] }),
    [
      'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    ],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));

it.each<PodRow>([
  ['negative terminationGracePeriodSeconds', pod({ terminationGracePeriodSeconds: -5 }), []],
  ['bad schedulerName', pod({ schedulerName: 'A_' }), []],
])('Pod with %s is accepted', (_name, object, errors) => expectPodErrors(object, errors));

it('Pod without spec is rejected', () => {
  const { spec: _spec, ...object } = pod();
  expect(podErrors(object)).toEqual(['spec.containers: Required value']);
});
