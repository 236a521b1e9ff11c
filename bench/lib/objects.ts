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
