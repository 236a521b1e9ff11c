import { expectPodErrors, pod, type PodRow, podWithContainer } from '../../../../test/harness/pods.js';

it.each<PodRow>([
  [
    'preStop sleep longer than the grace period',
    podWithContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ],
  [
    'probe without handler',
    podWithContainer({ livenessProbe: {} }),
    ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
  ],
  [
    'probe with two handlers',
    podWithContainer({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
    ['spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  ],
  [
    'exec without command',
    podWithContainer({ livenessProbe: { exec: {} } }),
    ['spec.containers[0].livenessProbe.exec.command: Required value'],
  ],
  [
    'httpGet with port 0',
    podWithContainer({ livenessProbe: { httpGet: { port: 0 } } }),
    ['spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ],
  [
    'httpGet with bad port name',
    podWithContainer({ livenessProbe: { httpGet: { port: 'x_y' } } }),
    [
      'spec.containers[0].livenessProbe.httpGet.port: Invalid value: "x_y": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    'httpGet with bad scheme',
    podWithContainer({ livenessProbe: { httpGet: { port: 1, scheme: 'FTP' } } }),
    ['spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"'],
  ],
  [
    'httpGet with bad header name',
    podWithContainer({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: 'x' }] } } }),
    [
      "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
  ],
  [
    'livenessProbe with successThreshold 2',
    podWithContainer({ livenessProbe: { exec: { command: ['a'] }, successThreshold: 2 } }),
    ['spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
  ],
  [
    'negative periodSeconds',
    podWithContainer({ livenessProbe: { exec: { command: ['a'] }, periodSeconds: -1 } }),
    ['spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'readinessProbe with terminationGracePeriodSeconds',
    podWithContainer({ readinessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 3 } }),
    [
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 3: must not be set for readinessProbes',
    ],
  ],
  [
    'lifecycle hook without handler',
    podWithContainer({ lifecycle: { postStart: {} } }),
    ['spec.containers[0].lifecycle.postStart: Required value: must specify a handler type'],
  ],
  [
    'init container with readinessProbe',
    pod({ initContainers: [{ name: 'i', image: 'j', readinessProbe: { exec: { command: ['a'] } } }] }),
    [
      'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'init container with lifecycle',
    pod({ initContainers: [{ name: 'i', image: 'j', lifecycle: { preStop: { exec: { command: ['a'] } } } }] }),
    ['spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always'],
  ],
  [
    'init container with bad restartPolicy',
    pod({ initContainers: [{ name: 'i', image: 'j', restartPolicy: 'Sometimes' }] }),
    [
      'spec.initContainers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));

it.each<PodRow>([
  [
    'preStop sleep as long as the grace period',
    pod({
      terminationGracePeriodSeconds: 5,
      containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
    }),
    [],
  ],
])('Pod with %s is accepted', (_name, object, errors) => expectPodErrors(object, errors));
