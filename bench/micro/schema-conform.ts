import { Catalog } from '../../src/catalog/catalog.js';
import { decodeJson, stringifyJson } from '../../src/codec/json.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonObject } from '../../src/machinery/kube-object.js';
import { conform } from '../../src/typed/conform.js';

/** CPU time of conforming a submitted Pod to its type: `node dist/bench/micro/schema-conform.js`. */
const container = (name: string): JsonObject => ({
  name,
  image: `registry.example.com/team/${name}:1.2.3`,
  args: ['--port=8080', '--verbose'],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'LOG_LEVEL', value: 'info' },
    { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
  ],
  resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '100m', memory: '64Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }],
  livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, initialDelaySeconds: 5, periodSeconds: 10 },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true },
});
const pod = stringifyJson({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web-7d4b9c6f5-x2x8k',
    namespace: 'default',
    labels: { app: 'web', tier: 'frontend', 'pod-template-hash': '7d4b9c6f5' },
    annotations: { 'example.com/checksum': '5d41402abc4b2a76b9719d911017c592' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-7d4b9c6f5',
        uid: '00000000-0000-4000-8000-000000000001',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    containers: [container('web'), container('sidecar')],
    volumes: [{ name: 'config', configMap: { name: 'web', defaultMode: 420 } }],
    nodeSelector: { 'example.com/os': 'linux' },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'web', effect: 'NoSchedule' }],
    terminationGracePeriodSeconds: 30,
  },
});

const type = new Catalog(namingProfile('kubernetes')).struct('core.v1.Pod');
const rounds = 20_000;

function micros(task: (pod: JsonObject) => void): number {
  const values = Array.from({ length: 200 }, () => decodeJson(pod) as JsonObject);
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round++) task(values[round % values.length]!);
  return process.cpuUsage(start).user / rounds;
}

const first = process.hrtime.bigint();
conform(decodeJson(pod), type);
console.log(`${Buffer.byteLength(pod)} bytes; the first: ${Number(process.hrtime.bigint() - first) / 1000} µs`);
for (let run = 0; run < 4; run++) {
  let found = 0;
  const cost = micros((value) => (found += conform(value, type).unknownFields.length));
  const copying = micros((value) => structuredClone(value));
  const decoding = micros(() => decodeJson(pod));
  console.log(
    `conform ${cost.toFixed(2)} µs   decodeJson ${decoding.toFixed(2)} µs   structuredClone ${copying.toFixed(2)} µs   (${found})`,
  );
}
