import {
  expectPodErrors,
  notQualifiedName,
  pod,
  type PodRow,
  podWithContainer,
} from '../../../../test/harness/pods.js';

it.each<PodRow>([
  ['containers absent', pod({ containers: undefined }), ['spec.containers: Required value']],
  ['no containers', pod({ containers: [] }), ['spec.containers: Required value']],
  ['containers null', pod({ containers: null }), ['spec.containers: Required value']],
  ['container without image', pod({ containers: [{ name: 'c' }] }), ['spec.containers[0].image: Required value']],
  [
    'image with surrounding whitespace',
    pod({ containers: [{ name: 'c', image: ' i ' }] }),
    ['spec.containers[0].image: Invalid value: " i ": must not have leading or trailing whitespace'],
  ],
  ['container without name', pod({ containers: [{ image: 'i' }] }), ['spec.containers[0].name: Required value']],
  [
    'container name too long',
    pod({ containers: [{ name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', image: 'i' }] }),
    [
      'spec.containers[0].name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 63 characters',
    ],
  ],
  [
    'container name with dot',
    pod({ containers: [{ name: 'a.b', image: 'i' }] }),
    ['spec.containers[0].name: Invalid value: "a.b": must not contain dots'],
  ],
  [
    'duplicate container name',
    pod({
      containers: [
        { name: 'c', image: 'i' },
        { name: 'c', image: 'j' },
      ],
    }),
    ['spec.containers[1].name: Duplicate value: "c"'],
  ],
  [
    'init container of the same name as a container',
    pod({ initContainers: [{ name: 'c', image: 'j' }] }),
    ['spec.initContainers[0].name: Duplicate value: "c"'],
  ],
  [
    'bad imagePullPolicy',
    podWithContainer({ imagePullPolicy: 'Maybe' }),
    [
      'spec.containers[0].imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"',
    ],
  ],
  [
    'bad terminationMessagePolicy',
    podWithContainer({ terminationMessagePolicy: 'Maybe' }),
    [
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "Maybe": supported values: "File", "FallbackToLogsOnError"',
    ],
  ],
  [
    'port 0',
    podWithContainer({ ports: [{ containerPort: 0 }] }),
    ['spec.containers[0].ports[0].containerPort: Required value'],
  ],
  [
    'port 65536',
    podWithContainer({ ports: [{ containerPort: 65536 }] }),
    ['spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
  [
    'negative hostPort',
    podWithContainer({ ports: [{ containerPort: 1, hostPort: -1 }] }),
    ['spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive'],
  ],
  [
    'bad protocol',
    podWithContainer({ ports: [{ containerPort: 1, protocol: 'ICMP' }] }),
    ['spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'port name of 16 characters',
    podWithContainer({ ports: [{ containerPort: 1, name: 'abcdefghijklmnop' }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "abcdefghijklmnop": must be no more than 15 characters'],
  ],
  [
    'port name without letter',
    podWithContainer({ ports: [{ containerPort: 1, name: '80' }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "80": must contain at least one letter (a-z)'],
  ],
  [
    'port name with consecutive hyphens',
    podWithContainer({ ports: [{ containerPort: 1, name: 'a--b' }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "a--b": must not contain consecutive hyphens'],
  ],
  [
    'duplicate port names',
    podWithContainer({
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    }),
    ['spec.containers[0].ports[1].name: Duplicate value: "a"'],
  ],
  [
    'duplicate host ports',
    podWithContainer({
      ports: [
        { containerPort: 1, hostPort: 5 },
        { containerPort: 2, hostPort: 5 },
      ],
    }),
    ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//5"'],
  ],
  [
    'hostPort other than containerPort on hostNetwork',
    podWithContainer({ ports: [{ containerPort: 1, hostPort: 2 }] }, { hostNetwork: true }),
    ['spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true'],
  ],
  ['env without name', podWithContainer({ env: [{ value: 'x' }] }), ['spec.containers[0].env[0].name: Required value']],
  [
    'env name with =',
    podWithContainer({ env: [{ name: 'a=b' }] }),
    [
      'spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
    ],
  ],
  [
    'env with value and valueFrom',
    podWithContainer({ env: [{ name: 'a', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    'env with empty valueFrom',
    podWithContainer({ env: [{ name: 'a', valueFrom: {} }] }),
    [
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
  ],
  [
    'env with two sources',
    podWithContainer({
      env: [
        { name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } } },
      ],
    }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    'env with unknown fieldPath',
    podWithContainer({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x',
    ],
  ],
  [
    'env with fieldRef of another API version',
    podWithContainer({
      env: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }],
    }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ],
  ],
  [
    'envFrom without name',
    podWithContainer({ envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: {} }] }),
    ['spec.containers[0].envFrom[1].secretRef.name: Required value'],
  ],
  [
    'env with bad annotation key in fieldPath',
    podWithContainer({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a b']" } } }] }),
    [`spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: "a b": ${notQualifiedName}`],
  ],
  [
    'env with unknown resource',
    podWithContainer({ env: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ],
  ],
  [
    'env with secretKeyRef without key',
    podWithContainer({ env: [{ name: 'a', valueFrom: { secretKeyRef: { name: 's' } } }] }),
    ['spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value'],
  ],
  [
    'empty envFrom source',
    podWithContainer({ envFrom: [{}] }),
    ['spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
  ],
  [
    'envFrom with two sources',
    podWithContainer({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] }),
    ['spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    'mount without volume',
    podWithContainer({ volumeMounts: [{ name: 'v', mountPath: '/x' }] }),
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    'mount without path',
    podWithContainer({ volumeMounts: [{ name: 'v' }] }, { volumes: [{ name: 'v' }] }),
    ['spec.containers[0].volumeMounts[0].mountPath: Required value'],
  ],
  [
    'two mounts at one path',
    podWithContainer(
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a' },
          { name: 'v', mountPath: '/a' },
        ],
      },
      { volumes: [{ name: 'v' }] },
    ),
    ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique'],
  ],
  [
    'subPath with ..',
    podWithContainer({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '../x' }] }, { volumes: [{ name: 'v' }] }),
    ['spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain \'..\''],
  ],
  [
    'absolute subPath',
    podWithContainer({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '/x' }] }, { volumes: [{ name: 'v' }] }),
    ['spec.containers[0].volumeMounts.subPath: Invalid value: "/x": must be a relative path'],
  ],
  [
    'subPath and subPathExpr',
    podWithContainer(
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x', subPathExpr: 'y' }] },
      { volumes: [{ name: 'v' }] },
    ),
    [
      'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
    ],
  ],
  [
    'bad mountPropagation',
    podWithContainer(
      { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'X' }] },
      { volumes: [{ name: 'v' }] },
    ),
    [
      'spec.containers[0].volumeMounts.mountPropagation: Unsupported value: "X": supported values: "Bidirectional", "HostToContainer", "None"',
    ],
  ],
  [
    'Bidirectional mountPropagation without privileged',
    podWithContainer(
      { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' }] },
      { volumes: [{ name: 'v' }] },
    ),
    [
      'spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers',
    ],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));
