import { counterMark } from './requests.js';

// Objects for the measurements, of sizes that are usual in clusters.

const filler = (length: number) =>
  'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(Math.ceil(length / 36)).slice(0, length);

export const namespace = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** About 1 KiB as sent. */
export const configMap = (name: string, sequence = counterMark) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench' } },
    data: { sequence, filler: filler(850) },
  });

/** About 2 KiB in a list. */
export const pod = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${counterMark}`, labels: { app: 'bench', 'pod-number': counterMark } },
  spec: {
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'main',
        image: 'registry.example/bench/main:1.0',
        command: ['/bin/main', '--number', counterMark],
        env: [{ name: 'NUMBER', value: counterMark }],
        ports: [{ name: 'http', containerPort: 8080 }],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } },
      },
    ],
  },
});

/** The number of Pods of usualPod() in one namespace. */
export const podsPerNamespace = 50;
export const namespaceOfPod = (number: number): string => `ns-${Math.floor(number / podsPerNamespace)}`;

/** A Pod of a Deployment, about 3.2 KB in a list. One Pod of a hundred has the label `shard` with a given value. */
export function usualPod(number: number): object {
  const app = `app-${number % 97}`;
  const hash = (number * 2654435761).toString(16).slice(-9);
  const probe = (path: string) => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    periodSeconds: 10,
    timeoutSeconds: 1,
  });
  const container = (name: string) => ({
    name,
    image: `registry.example/${app}/${name}:1.${number % 7}.0`,
    args: ['--config=/etc/main/config.yaml', '--listen=:8080', '--log-format=json'],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    ],
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: probe('/ready'),
    resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } },
    volumeMounts: [{ name: 'config', mountPath: '/etc/main', readOnly: true }],
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${app}-${hash}-${number}`,
      labels: { 'app.kubernetes.io/name': app, 'pod-template-hash': hash, shard: `shard-${number % 100}` },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' },
    },
    spec: {
      automountServiceAccountToken: false,
      nodeName: `node-${number % 500}`,
      containers: [container('main')],
      volumes: [{ name: 'config', configMap: { name: `${app}-config` } }],
    },
  };
}
