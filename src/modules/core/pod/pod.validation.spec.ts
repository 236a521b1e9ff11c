import type { KubeObject } from '../../../machinery/kube-object.js';
import { refusals } from '../../../../test/harness/strategies.js';
import { namingProfile } from '../../../config/naming-profile.js';
import { podRules } from './pod.strategy.js';

const { strategy: podStrategy } = podRules(namingProfile('kubernetes'));

const badQualifiedName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const badLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const badSubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const badLabelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const badIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const hardAffinity = 'requiredDuringSchedulingIgnoredDuringExecution';
const softAffinity = 'preferredDuringSchedulingIgnoredDuringExecution';

/** A pod that is fine but for what is given. */
const pod = (spec: object): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'd' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
/** The same, with more in its only container. */
const one = (container: object, spec: object = {}): KubeObject =>
  pod({ containers: [{ name: 'c', image: 'i', ...container }], ...spec });

it.each<[string, KubeObject, string[]]>([
  ['no spec', pod({ containers: undefined }), ['spec.containers: Required value']],
  ['no containers', pod({ containers: [] }), ['spec.containers: Required value']],
  ['containers null', pod({ containers: null }), ['spec.containers: Required value']],
  ['no image', pod({ containers: [{ name: 'c' }] }), ['spec.containers[0].image: Required value']],
  [
    'image with space around',
    pod({ containers: [{ name: 'c', image: ' i ' }] }),
    ['spec.containers[0].image: Invalid value: " i ": must not have leading or trailing whitespace'],
  ],
  ['no container name', pod({ containers: [{ image: 'i' }] }), ['spec.containers[0].name: Required value']],
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
    'init container with the same name',
    pod({ initContainers: [{ name: 'c', image: 'j' }] }),
    ['spec.initContainers[0].name: Duplicate value: "c"'],
  ],
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
    'nameserver not an ip',
    pod({ dnsConfig: { nameservers: ['x'] } }),
    [`spec.dnsConfig.nameservers[0]: Invalid value: "x": ${badIp}`],
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
    'bad imagePullPolicy',
    one({ imagePullPolicy: 'Maybe' }),
    [
      'spec.containers[0].imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"',
    ],
  ],
  [
    'bad terminationMessagePolicy',
    one({ terminationMessagePolicy: 'Maybe' }),
    [
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "Maybe": supported values: "File", "FallbackToLogsOnError"',
    ],
  ],
  ['port 0', one({ ports: [{ containerPort: 0 }] }), ['spec.containers[0].ports[0].containerPort: Required value']],
  [
    'port 65536',
    one({ ports: [{ containerPort: 65536 }] }),
    ['spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
  [
    'hostPort negative',
    one({ ports: [{ containerPort: 1, hostPort: -1 }] }),
    ['spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive'],
  ],
  [
    'bad protocol',
    one({ ports: [{ containerPort: 1, protocol: 'ICMP' }] }),
    ['spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'port name too long',
    one({ ports: [{ containerPort: 1, name: 'abcdefghijklmnop' }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "abcdefghijklmnop": must be no more than 15 characters'],
  ],
  [
    'port name without letter',
    one({ ports: [{ containerPort: 1, name: '80' }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "80": must contain at least one letter (a-z)'],
  ],
  [
    'port name double dash',
    one({ ports: [{ containerPort: 1, name: 'a--b' }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "a--b": must not contain consecutive hyphens'],
  ],
  [
    'duplicate port names',
    one({
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    }),
    ['spec.containers[0].ports[1].name: Duplicate value: "a"'],
  ],
  [
    'duplicate host ports',
    one({
      ports: [
        { containerPort: 1, hostPort: 5 },
        { containerPort: 2, hostPort: 5 },
      ],
    }),
    ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//5"'],
  ],
  [
    'hostNetwork port mismatch',
    one({ ports: [{ containerPort: 1, hostPort: 2 }] }, { hostNetwork: true }),
    ['spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true'],
  ],
  ['env without name', one({ env: [{ value: 'x' }] }), ['spec.containers[0].env[0].name: Required value']],
  [
    'env name with =',
    one({ env: [{ name: 'a=b' }] }),
    [
      'spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
    ],
  ],
  [
    'env value and valueFrom',
    one({ env: [{ name: 'a', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    'env valueFrom empty',
    one({ env: [{ name: 'a', valueFrom: {} }] }),
    [
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
  ],
  [
    'env two sources',
    one({
      env: [
        { name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } } },
      ],
    }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    'env bad fieldPath',
    one({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x',
    ],
  ],
  [
    'env fieldRef of another version',
    one({ env: [{ name: 'a', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ],
  ],
  [
    'sleep within the grace period',
    pod({
      terminationGracePeriodSeconds: 5,
      containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
    }),
    [],
  ],
  [
    'sleep beyond the grace period',
    one({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ],
  [
    'envFrom without a name',
    one({ envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: {} }] }),
    ['spec.containers[0].envFrom[1].secretRef.name: Required value'],
  ],
  [
    'env bad annotation path',
    one({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a b']" } } }] }),
    [`spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: "a b": ${badQualifiedName}`],
  ],
  [
    'env bad resource',
    one({ env: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ],
  ],
  [
    'env secret without key',
    one({ env: [{ name: 'a', valueFrom: { secretKeyRef: { name: 's' } } }] }),
    ['spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value'],
  ],
  [
    'envFrom empty',
    one({ envFrom: [{}] }),
    ['spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
  ],
  [
    'envFrom both',
    one({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] }),
    ['spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    'request over limit',
    one({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    'unknown resource',
    one({ resources: { limits: { spoons: '1' } } }),
    [
      'spec.containers[0].resources.limits[spoons]: Invalid value: "spoons": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[spoons]: Invalid value: "spoons": must be a standard resource for containers',
      'spec.containers[0].resources.requests[spoons]: Invalid value: "spoons": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[spoons]: Invalid value: "spoons": must be a standard resource for containers',
    ],
  ],
  [
    'negative quantity',
    one({ resources: { limits: { cpu: '-1' } } }),
    [
      'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  [
    'extended resource fraction',
    one({ resources: { limits: { 'example.com/g': '500m' } } }),
    [
      'spec.containers[0].resources.limits[example.com/g]: Invalid value: "500m": must be an integer',
      'spec.containers[0].resources.requests[example.com/g]: Invalid value: "500m": must be an integer',
    ],
  ],
  [
    'extended resource request only',
    one({ resources: { requests: { 'example.com/g': '1' } } }),
    ['spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    'hugepages without limit',
    one({ resources: { requests: { 'hugepages-2Mi': '2Mi' } } }),
    [
      'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
      'spec.containers[0].resources: Forbidden: HugePages require cpu or memory',
    ],
  ],
  [
    'hugepages not a multiple',
    one({ resources: { limits: { 'hugepages-2Mi': '1Mi', memory: '1Mi' } } }),
    [
      'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-2Mi',
      'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-2Mi',
    ],
  ],
  [
    'storage as container resource',
    one({ resources: { limits: { 'requests.storage': '1' } } }),
    [
      'spec.containers[0].resources.limits[requests.storage]: Invalid value: "requests.storage": must be a standard resource for containers',
      'spec.containers[0].resources.requests[requests.storage]: Invalid value: "requests.storage": must be a standard resource for containers',
    ],
  ],
  [
    'claim not declared',
    one({ resources: { claims: [{ name: 'x' }] } }),
    [
      'spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ],
  [
    'mount without volume',
    one({ volumeMounts: [{ name: 'v', mountPath: '/x' }] }),
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    'mount without path',
    one({ volumeMounts: [{ name: 'v' }] }, { volumes: [{ name: 'v' }] }),
    ['spec.containers[0].volumeMounts[0].mountPath: Required value'],
  ],
  [
    'two mounts at one path',
    one(
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
    one({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '../x' }] }, { volumes: [{ name: 'v' }] }),
    ['spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain \'..\''],
  ],
  [
    'absolute subPath',
    one({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '/x' }] }, { volumes: [{ name: 'v' }] }),
    ['spec.containers[0].volumeMounts.subPath: Invalid value: "/x": must be a relative path'],
  ],
  [
    'subPath and subPathExpr',
    one(
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x', subPathExpr: 'y' }] },
      { volumes: [{ name: 'v' }] },
    ),
    [
      'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
    ],
  ],
  [
    'bad mountPropagation',
    one({ volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'X' }] }, { volumes: [{ name: 'v' }] }),
    [
      'spec.containers[0].volumeMounts.mountPropagation: Unsupported value: "X": supported values: "Bidirectional", "HostToContainer", "None"',
    ],
  ],
  [
    'bidirectional without privilege',
    one(
      { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' }] },
      { volumes: [{ name: 'v' }] },
    ),
    [
      'spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers',
    ],
  ],
  ['volume without name', pod({ volumes: [{ emptyDir: {} }] }), ['spec.volumes[0].name: Required value']],
  ['volume bad name', pod({ volumes: [{ name: 'V_' }] }), [`spec.volumes[0].name: Invalid value: "V_": ${badLabel}`]],
  [
    'duplicate volumes',
    pod({ volumes: [{ name: 'v' }, { name: 'v' }] }),
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    'two sources',
    pod({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] }),
    ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'hostPath with ..',
    pod({ volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] }),
    ['spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
  ],
  [
    'hostPath without path',
    pod({ volumes: [{ name: 'v', hostPath: {} }] }),
    ['spec.volumes[0].hostPath.path: Required value'],
  ],
  [
    'hostPath bad type',
    pod({ volumes: [{ name: 'v', hostPath: { path: '/', type: 'X' } }] }),
    [
      'spec.volumes[0].hostPath.type: Unsupported value: "X": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    'secret without name',
    pod({ volumes: [{ name: 'v', secret: {} }] }),
    ['spec.volumes[0].secret.secretName: Required value'],
  ],
  [
    'secret bad mode',
    pod({ volumes: [{ name: 'v', secret: { secretName: 's', defaultMode: 512 } }] }),
    [
      'spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
    ],
  ],
  [
    'configMap without name',
    pod({ volumes: [{ name: 'v', configMap: {} }] }),
    ['spec.volumes[0].configMap.name: Required value'],
  ],
  [
    'item without path',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k' }] } }] }),
    ['spec.volumes[0].configMap.items[0].path: Required value'],
  ],
  [
    'item path absolute',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '/x' }] } }] }),
    ['spec.volumes[0].configMap.items[0].path: Invalid value: "/x": must be a relative path'],
  ],
  [
    'item path with ..',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '..' }] } }] }),
    [
      'spec.volumes[0].configMap.items[0].path: Invalid value: "..": must not contain \'..\'',
      'spec.volumes[0].configMap.items[0].path: Invalid value: "..": must not start with \'..\'',
    ],
  ],
  [
    'emptyDir negative size',
    pod({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '-1' } }] }),
    ['spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  [
    'nfs without server',
    pod({ volumes: [{ name: 'v', nfs: { path: '/x' } }] }),
    ['spec.volumes[0].nfs.server: Required value'],
  ],
  [
    'nfs relative path',
    pod({ volumes: [{ name: 'v', nfs: { server: 's', path: 'x' } }] }),
    ['spec.volumes[0].nfs.path: Invalid value: "x": must be an absolute path'],
  ],
  [
    'iscsi bad iqn',
    pod({ volumes: [{ name: 'v', iscsi: { targetPortal: 'x', iqn: 'foo', lun: 0 } }] }),
    ['spec.volumes[0].iscsi.iqn: Invalid value: "foo": must be valid format starting with iqn, eui, or naa'],
  ],
  [
    'iscsi lun out of range',
    pod({ volumes: [{ name: 'v', iscsi: { targetPortal: 'x', iqn: 'iqn.2015-02.example.com:t', lun: 256 } }] }),
    ['spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive'],
  ],
  [
    'pvc without name',
    pod({ volumes: [{ name: 'v', persistentVolumeClaim: {} }] }),
    ['spec.volumes[0].persistentVolumeClaim.claimName: Required value'],
  ],
  [
    'downwardAPI bad field',
    pod({
      volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'spec.nodeName' } }] } }],
    }),
    [
      'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
    ],
  ],
  [
    'downwardAPI neither',
    pod({ volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'x' }] } }] }),
    ['spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required'],
  ],
  [
    'projected conflicting paths',
    pod({
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [
              { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
              { secret: { name: 'b', items: [{ key: 'k', path: 'p' }] } },
            ],
          },
        },
      ],
    }),
    ['spec.volumes[0].projected: Invalid value: "b": conflicting duplicate paths'],
  ],
  [
    'projected token twice at one path',
    pod({
      volumes: [
        {
          name: 'v',
          projected: { sources: [{ serviceAccountToken: { path: 't' } }, { serviceAccountToken: { path: 't' } }] },
        },
      ],
    }),
    [],
  ],
  [
    'projected token too short',
    pod({
      volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 60 } }] } }],
    }),
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    ],
  ],
  ['csi without driver', pod({ volumes: [{ name: 'v', csi: {} }] }), ['spec.volumes[0].csi.driver: Required value']],
  [
    'gitRepo without repository',
    pod({ volumes: [{ name: 'v', gitRepo: {} }] }),
    ['spec.volumes[0].gitRepo.repository: Required value'],
  ],
  [
    'glusterfs without path',
    pod({ volumes: [{ name: 'v', glusterfs: { endpoints: 'e' } }] }),
    ['spec.volumes[0].glusterfs.path: Required value'],
  ],
  [
    'ephemeral without spec',
    pod({ volumes: [{ name: 'v', ephemeral: {} }] }),
    ['spec.volumes[0].ephemeral.volumeClaimTemplate: Required value'],
  ],
  [
    'rbd without monitors',
    pod({ volumes: [{ name: 'v', rbd: { image: 'i' } }] }),
    ['spec.volumes[0].rbd.monitors: Required value'],
  ],
  [
    'fc without targets',
    pod({ volumes: [{ name: 'v', fc: {} }] }),
    ['spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
  ],
  [
    'azureFile without secret',
    pod({ volumes: [{ name: 'v', azureFile: { shareName: 's' } }] }),
    ['spec.volumes[0].azureFile.secretName: Required value'],
  ],
  [
    'image without reference',
    pod({ volumes: [{ name: 'v', image: {} }] }),
    ['spec.volumes[0].image.reference: Required value'],
  ],
  [
    'probe without handler',
    one({ livenessProbe: {} }),
    ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
  ],
  [
    'probe with two handlers',
    one({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
    ['spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  ],
  [
    'exec without command',
    one({ livenessProbe: { exec: {} } }),
    ['spec.containers[0].livenessProbe.exec.command: Required value'],
  ],
  [
    'httpGet port 0',
    one({ livenessProbe: { httpGet: { port: 0 } } }),
    ['spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ],
  [
    'httpGet bad port name',
    one({ livenessProbe: { httpGet: { port: 'x_y' } } }),
    [
      'spec.containers[0].livenessProbe.httpGet.port: Invalid value: "x_y": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    'httpGet bad scheme',
    one({ livenessProbe: { httpGet: { port: 1, scheme: 'FTP' } } }),
    ['spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"'],
  ],
  [
    'httpGet bad header',
    one({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: 'x' }] } } }),
    [
      "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
  ],
  [
    'liveness successThreshold 2',
    one({ livenessProbe: { exec: { command: ['a'] }, successThreshold: 2 } }),
    ['spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
  ],
  [
    'negative periodSeconds',
    one({ livenessProbe: { exec: { command: ['a'] }, periodSeconds: -1 } }),
    ['spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'readiness with terminationGracePeriodSeconds',
    one({ readinessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 3 } }),
    [
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 3: must not be set for readinessProbes',
    ],
  ],
  [
    'lifecycle without handler',
    one({ lifecycle: { postStart: {} } }),
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
    'init restartPolicy Never',
    pod({ initContainers: [{ name: 'i', image: 'j', restartPolicy: 'Sometimes' }] }),
    [
      'spec.initContainers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ],
  ],
  [
    'toleration Exists with value',
    pod({ tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] }),
    ['spec.tolerations[0].operator: Invalid value: "v": value must be empty when `operator` is \'Exists\''],
  ],
  [
    'toleration empty key Equal',
    pod({ tolerations: [{ operator: 'Equal' }] }),
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'toleration bad effect',
    pod({ tolerations: [{ key: 'k', effect: 'X' }] }),
    [
      'spec.tolerations[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    'toleration bad operator',
    pod({ tolerations: [{ key: 'k', operator: 'X' }] }),
    ['spec.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists"'],
  ],
  [
    'toleration seconds without NoExecute',
    pod({ tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 3 }] }),
    ['spec.tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
  ],
  [
    'toleration bad value',
    pod({ tolerations: [{ key: 'k', value: 'a b' }] }),
    [`spec.tolerations[0].operator: Invalid value: "a b": ${badLabelValue}`],
  ],
  [
    'affinity without topologyKey',
    pod({ affinity: { podAffinity: { [hardAffinity]: [{ labelSelector: {} }] } } }),
    [
      `spec.affinity.podAffinity.${hardAffinity}[0].topologyKey: Required value: can not be empty`,
      `spec.affinity.podAffinity.${hardAffinity}[0].topologyKey: Invalid value: "": name part must be non-empty`,
      `spec.affinity.podAffinity.${hardAffinity}[0].topologyKey: Invalid value: "": ${badQualifiedName}`,
    ],
  ],
  [
    'affinity weight 0',
    pod({ affinity: { podAntiAffinity: { [softAffinity]: [{ weight: 0, podAffinityTerm: { topologyKey: 'z' } }] } } }),
    [`spec.affinity.podAntiAffinity.${softAffinity}[0].weight: Invalid value: 0: must be in the range 1-100`],
  ],
  [
    'affinity bad namespace',
    pod({ affinity: { podAffinity: { [hardAffinity]: [{ topologyKey: 'z', namespaces: ['A'] }] } } }),
    [`spec.affinity.podAffinity.${hardAffinity}[0].namespace: Invalid value: "A": ${badLabel}`],
  ],
  [
    'node affinity no terms',
    pod({ affinity: { nodeAffinity: { [hardAffinity]: { nodeSelectorTerms: [] } } } }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms: Required value: must have at least one node selector term`,
    ],
  ],
  [
    'node selector bad operator',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Like' }] }] },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`,
    ],
  ],
  [
    'node selector In without values',
    pod({
      affinity: {
        nodeAffinity: { [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] } },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ],
  ],
  [
    'node selector Exists with values',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }],
          },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
  ],
  [
    'node selector Gt not a number',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['x'] }] }] },
        },
      },
    }),
    [],
  ],
  [
    'node selector bad key',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a b', operator: 'Exists' }] }] },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ${badQualifiedName}`,
    ],
  ],
  [
    'node matchFields bad key',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['x'] }] }],
          },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key`,
    ],
  ],
  [
    'label selector bad operator',
    pod({
      affinity: {
        podAffinity: {
          [hardAffinity]: [{ topologyKey: 'z', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }],
        },
      },
    }),
    [
      `spec.affinity.podAffinity.${hardAffinity}[0].labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
    ],
  ],
  [
    'spread maxSkew 0',
    pod({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }] }),
    ['spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero'],
  ],
  [
    'spread without key',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }),
    ['spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty'],
  ],
  [
    'spread with a key that is no label key',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: 'DoNotSchedule' }] }),
    [],
  ],
  [
    'spread bad action',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'X' }] }),
    [
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    'spread duplicate',
    pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"'],
  ],
  [
    'spread minDomains with ScheduleAnyway',
    pod({
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 }],
    }),
    [
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
    ],
  ],
  [
    'activeDeadlineSeconds 0',
    pod({ activeDeadlineSeconds: 0 }),
    ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
  ],
  ['negative terminationGracePeriodSeconds', pod({ terminationGracePeriodSeconds: -5 }), []],
  ['bad hostname', pod({ hostname: 'A_' }), [`spec.hostname: Invalid value: "A_": ${badLabel}`]],
  ['bad subdomain', pod({ subdomain: 'a.b' }), ['spec.subdomain: Invalid value: "a.b": must not contain dots']],
  ['bad nodeName', pod({ nodeName: 'N_' }), [`spec.nodeName: Invalid value: "N_": ${badSubdomain}`]],
  [
    'bad nodeSelector',
    pod({ nodeSelector: { 'a b': 'c' } }),
    [`spec.nodeSelector: Invalid value: "a b": ${badQualifiedName}`],
  ],
  ['bad schedulerName', pod({ schedulerName: 'A_' }), []],
  ['hostAliases bad ip', pod({ hostAliases: [{ ip: 'x' }] }), [`spec.hostAliases[0].ip: Invalid value: "x": ${badIp}`]],
  [
    'hostAliases bad name',
    pod({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['A_'] }] }),
    [`spec.hostAliases[0].hostnames[0]: Invalid value: "A_": ${badSubdomain}`],
  ],
  [
    'bad readiness gate',
    pod({ readinessGates: [{ conditionType: 'a b' }] }),
    [`spec.readinessGates[0].conditionType: Invalid value: "a b": ${badQualifiedName}`],
  ],
  [
    'bad scheduling gate',
    pod({ schedulingGates: [{ name: 'a b' }] }),
    [`spec.schedulingGates[0]: Invalid value: "a b": ${badQualifiedName}`],
  ],
  [
    'duplicate scheduling gates',
    pod({ schedulingGates: [{ name: 'a' }, { name: 'a' }] }),
    ['spec.schedulingGates[1]: Duplicate value: "a"'],
  ],
  [
    'gate with nodeName',
    pod({ schedulingGates: [{ name: 'a' }], nodeName: 'n' }),
    ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
  [
    'bad os',
    pod({ os: { name: 'plan9' } }),
    ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  ],
  [
    'windows with linux fields',
    pod({ os: { name: 'windows' }, hostPID: true }),
    ['spec.hostPID: Forbidden: cannot be set for a windows pod'],
  ],
  [
    'hostPID and shareProcessNamespace',
    pod({ hostPID: true, shareProcessNamespace: true }),
    [
      'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
  ],
  [
    'hostUsers false with hostNetwork',
    pod({ hostUsers: false, hostNetwork: true }),
    ['spec.hostNetwork: Forbidden: when `hostUsers` is false'],
  ],
  [
    'runAsUser negative',
    pod({ securityContext: { runAsUser: -1 } }),
    ['spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'fsGroup negative',
    pod({ securityContext: { fsGroup: -1 } }),
    ['spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'supplementalGroups negative',
    pod({ securityContext: { supplementalGroups: [-1] } }),
    ['spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'bad sysctl',
    pod({ securityContext: { sysctls: [{ name: 'a_%' }] } }),
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "a_%": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
  ],
  [
    'duplicate sysctl',
    pod({
      securityContext: {
        sysctls: [
          { name: 'kernel.msgmax', value: '1' },
          { name: 'kernel.msgmax', value: '1' },
        ],
      },
    }),
    ['spec.securityContext.sysctls[1].name: Duplicate value: "kernel.msgmax"'],
  ],
  [
    'bad seccomp type',
    pod({ securityContext: { seccompProfile: { type: 'X' } } }),
    [
      'spec.securityContext.seccompProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    'seccomp Localhost without profile',
    pod({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    [
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
  ],
  [
    'seccomp profile with RuntimeDefault',
    pod({ securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } } }),
    [
      'spec.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost',
    ],
  ],
  [
    'bad fsGroupChangePolicy',
    pod({ securityContext: { fsGroupChangePolicy: 'X' } }),
    ['spec.securityContext.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", "OnRootMismatch"'],
  ],
  [
    'apparmor bad type',
    pod({ securityContext: { appArmorProfile: { type: 'X' } } }),
    [
      'spec.securityContext.appArmorProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    'privileged without escalation',
    one({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ],
  [
    'CAP_SYS_ADMIN without escalation',
    one({ securityContext: { capabilities: { add: ['CAP_SYS_ADMIN'] }, allowPrivilegeEscalation: false } }),
    [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":null,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    ],
  ],
  [
    'bad procMount',
    one({ securityContext: { procMount: 'X' } }),
    ['spec.containers[0].securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"'],
  ],
  [
    'resizePolicy duplicate',
    one({
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ],
    }),
    ['spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"'],
  ],
  [
    'resizePolicy bad resource',
    one({ resizePolicy: [{ resourceName: 'x', restartPolicy: 'NotRequired' }] }),
    ['spec.containers[0].resizePolicy: Unsupported value: "x": supported values: "cpu", "memory"'],
  ],
  [
    'resourceClaims both sources',
    pod({ resourceClaims: [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] }),
    [
      'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    ],
  ],
  [
    'pod-level resources unknown',
    pod({ resources: { limits: { 'ephemeral-storage': '1' } } }),
    [
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    ],
  ],
])('a pod with %s', (_what, given, want) => expect(new Set(refusals(podStrategy, given))).toEqual(new Set(want)));

it.each([
  [null],
  ['x'],
  [[]],
  [{ containers: 'x' }],
  [{ containers: [null, 5, 'x', []] }],
  [{ volumes: [7], containers: [{ ports: [1], env: ['a'], resources: 3 }] }],
])('finds errors, not trouble, in %j', (spec) =>
  expect(refusals(podStrategy, { ...pod({}), spec }).length).toBeGreaterThan(0),
);
