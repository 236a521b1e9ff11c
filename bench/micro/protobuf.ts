import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Catalog } from '../../src/catalog/catalog.js';
import { decodeJson, stringifyJson } from '../../src/codec/json.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { decodeRange, decodeTxn, decodeWatch, encodeRange, encodeTxn } from '../../src/storage/backends/etcd/wire.js';

/**
 * CPU time of etcd's messages and of a Pod in protobuf, in one process as in a server:
 * `node dist/bench/micro/protobuf.js`.
 */
interface Method {
  responseSerialize(message: object): Buffer;
}

// Responses as etcd encodes them, by etcd3's copy of its .proto files.
const etcd3 = createRequire(import.meta.url).resolve('etcd3/package.json');
const { loadSync } = createRequire(etcd3)('@grpc/proto-loader') as {
  loadSync(file: string, options: object): Record<string, Record<string, Method>>;
};
const services = loadSync(join(dirname(etcd3), 'proto/rpc.proto'), { keepCase: true, longs: String, enums: String });
const serialize = (service: string, method: string, message: object) =>
  Buffer.from(services[`etcdserverpb.${service}`]![method]!.responseSerialize(message));

const key = Buffer.from('/registry/pods/default/web-5d9f8c7b6d-x2x7k');
const value = Buffer.alloc(1024, 'v');
const kv = { key, value, create_revision: 1_234_567, mod_revision: 2_345_678, version: 3, lease: 0 };
const header = {
  cluster_id: '17237436991929493444',
  member_id: '9372538179322589801',
  revision: 2_345_678,
  raft_term: 7,
};
const one = serialize('KV', 'Range', { header, kvs: [kv], count: 1 });
const many = serialize('KV', 'Range', { header, kvs: Array<object>(500).fill(kv), more: true, count: 12_000 });
const revision = serialize('KV', 'Range', { header, kvs: [], count: 0 });
const txn = serialize('KV', 'Txn', {
  header,
  succeeded: true,
  responses: [{ response_put: { header: { revision: 2_345_678 } } }],
});
const events = [{ type: 0, kv, prev_kv: kv }];
const watch = serialize('Watch', 'Watch', { header, watch_id: 0, events });

const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = protobufEncoding('application/x-protobuf', () => catalog);
const container = (name: string) => ({
  name,
  image: `registry.example.com/shop/${name}:v1.2.3`,
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: ['MODE', 'REGION', 'LEVEL'].map((each) => ({ name: each, value: `${each}-value` })),
  resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '100m', memory: '64Mi' } },
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
  terminationMessagePath: '/dev/termination-log',
  imagePullPolicy: 'IfNotPresent',
});
const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web-5d9f8c7b6d-x2x7k',
    namespace: 'default',
    uid: '6f1f9d5e-8f5c-4a53-8a4f-3c5a4b9c1d11',
    resourceVersion: '2345678',
    creationTimestamp: '2026-01-02T03:04:05Z',
    labels: { app: 'web', 'pod-template-hash': '5d9f8c7b6d', tier: 'front' },
    annotations: { 'example.com/checksum': 'a'.repeat(64) },
    managedFields: [
      {
        manager: 'kubelet',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-02T03:04:06Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } }, 'f:phase': {} } },
      },
    ],
  },
  spec: {
    containers: [container('web'), container('proxy')],
    volumes: [{ name: 'data', emptyDir: {} }],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    nodeName: 'node-17',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  },
  status: {
    phase: 'Running',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: '2026-01-02T03:04:06Z',
    })),
    podIP: '10.1.2.3',
    podIPs: [{ ip: '10.1.2.3' }],
    startTime: '2026-01-02T03:04:05Z',
    qosClass: 'Burstable',
  },
};
const podBytes = Buffer.from(encoding.encode(pod));
const podJson = Buffer.from(stringifyJson(pod));
const get = { key, limit: 1 };
const create = {
  compare: [{ key, modRevision: 0 }],
  success: [{ type: 'put' as const, key, value }],
  failure: [{ type: 'range' as const, key, limit: 1 }],
};

const cases: readonly (readonly [string, number, () => unknown])[] = [
  ['etcd: encode get', 100, () => encodeRange(get)],
  ['etcd: encode create', 100, () => encodeTxn(create)],
  ['etcd: decode get', 100, () => decodeRange(one)],
  ['etcd: decode 500 items', 1, () => decodeRange(many)],
  ['etcd: decode revision', 100, () => decodeRange(revision)],
  ['etcd: decode txn', 100, () => decodeTxn(txn)],
  ['etcd: decode event', 100, () => decodeWatch(watch)],
  ['Pod: encode', 10, () => encoding.encode(pod)],
  ['Pod: decode', 10, () => encoding.decode(podBytes)],
  ['Pod: decode JSON', 10, () => decodeJson(podJson)],
];
const rounds = Number(process.argv[2] ?? 200);
const best = new Map<string, number>();
// Interleaved, so that all cases see the same machine; the best round counts.
for (let round = 0; round < rounds; round++) {
  for (const [name, times, run] of cases) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < 20 * times; i++) run();
    const each = Number(process.hrtime.bigint() - begin) / 1000 / (20 * times);
    best.set(name, Math.min(best.get(name) ?? Infinity, each));
  }
}
for (const [name, micros] of best) console.log(`${name.padEnd(24)} ${micros.toFixed(3).padStart(9)} µs`);
