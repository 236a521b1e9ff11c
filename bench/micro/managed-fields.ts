import { Catalog } from '../../src/catalog/catalog.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonObject } from '../../src/machinery/kube-object.js';
import { FieldManager } from '../../src/patch/apply/field-manager.js';
import { fieldSetOf } from '../../src/patch/apply/field-set.js';
import { schemaOfType } from '../../src/patch/apply/schema-of-type.js';

/** CPU time of managedFields in a write of a Pod of 2 KiB: `node dist/bench/micro/managed-fields.js`. */
const time = '2026-01-02T03:04:05Z';
const schema = schemaOfType(new Catalog(namingProfile('kubernetes')).kind('', 'v1', 'Pod')!);
const pods = new FieldManager({
  apiVersion: 'v1',
  kind: 'Pod',
  subresource: '',
  schema,
  versions: { schema: () => schema, convert: (object) => object, unreached: () => fieldSetOf('status') },
});

const container = (name: string): JsonObject => ({
  name,
  image: `registry.example/team/${name}:1.2.3`,
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'LOG_LEVEL', value: 'info' },
    { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
  ],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/app' },
    { name: 'token', readOnly: true, mountPath: '/var/run/secrets/token' },
  ],
  livenessProbe: {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});

const pod = (): JsonObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web-0',
    namespace: 'default',
    labels: { app: 'web', tier: 'front', 'example.com/hash': '5d4f8c7b9' },
    annotations: { 'example.com/config': 'a1b2c3', 'example.com/restarted-at': '2026-01-01T00:00:00Z' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-1', controller: true }],
  },
  spec: {
    volumes: [
      { name: 'config', configMap: { name: 'web', defaultMode: 420 } },
      { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }], defaultMode: 420 } },
    ],
    containers: [container('web'), container('sidecar')],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    nodeName: 'node-1',
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [{ key: 'node.example/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
    priority: 0,
    enableServiceLinks: true,
  },
  status: { phase: 'Pending', qosClass: 'Burstable' },
});

const copies = <T>(make: () => T): T[] => Array.from({ length: 20_000 }, make);
const live = { ...pods.trackUpdate({ live: undefined, next: pod(), manager: 'kubelet', time }) };
const changed = (): JsonObject => {
  const next = structuredClone(live);
  ((next['metadata'] as JsonObject)['labels'] as JsonObject)['app'] = 'changed';
  return next;
};
const config: JsonObject = { ...pod(), metadata: { name: 'web-0', labels: { app: 'web' } } };
delete config['status'];
const applied = pods.apply({ live: undefined, config, manager: 'kubectl', force: false, time });

const report: [string, JsonObject[], (object: JsonObject) => unknown][] = [
  ['create', copies(pod), (next) => pods.trackUpdate({ live: undefined, next, manager: 'kubelet', time })],
  ['update of one label', copies(changed), (next) => pods.trackUpdate({ live, next, manager: 'kubectl', time })],
  ['update, same object', copies(() => live), (next) => pods.trackUpdate({ live, next, manager: 'kubectl', time })],
  [
    'apply, as before',
    copies(() => config),
    (c) => pods.apply({ live: applied, config: c, manager: 'kubectl', force: false, time }),
  ],
];
for (let round = 0; round < 3; round++) {
  for (const [what, objects, task] of report) {
    const start = process.hrtime.bigint();
    for (const object of objects) task(object);
    const micros = Number(process.hrtime.bigint() - start) / 1000 / objects.length;
    if (round === 2) console.log(`${what.padEnd(22)} ${micros.toFixed(2).padStart(8)} µs`);
  }
}
console.log(`${JSON.stringify(pod()).length} bytes, ${JSON.stringify(live['metadata']).length} of metadata`);
