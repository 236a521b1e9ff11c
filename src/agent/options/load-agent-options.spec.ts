import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentOptions } from './agent-options.js';
import { loadAgentOptions } from './load-agent-options.js';

const directory = mkdtempSync(join(tmpdir(), 'keelson-agent-options-'));
const file = join(directory, 'kubelet.yaml');
afterAll(() => rmSync(directory, { recursive: true }));

function withFile(text: string, ...words: string[]) {
  writeFileSync(file, text);
  return loadAgentOptions([`--config=${file}`, ...words]);
}

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

it('agent options without flags allow anonymous requests and AlwaysAllow on port 10250', () => {
  const { options } = loadAgentOptions(['--node-name=Node-1', '--root-dir=/srv/agent']) as { options?: AgentOptions };
  expect(options).toMatchObject({
    nodeName: 'node-1',
    certDirectory: '/srv/agent/pki',
    serving: { port: 10250, address: '0.0.0.0' },
    authentication: { anonymous: true, webhook: false, webhookCacheTtlMs: 120_000 },
    authorization: { mode: 'AlwaysAllow', allowedTtlMs: 300_000, otherTtlMs: 30_000 },
    runtime: { endpoint: 'unix:/run/containerd/containerd.sock' },
    featureGates: { ContainerCheckpoint: false },
  });
});

it('flags of the agent take precedence over its KubeletConfiguration', () => {
  const loaded = withFile(
    `${head}port: 1\naddress: 127.0.0.1\nauthentication: {anonymous: {enabled: false}, x509: {clientCAFile: /ca}}\n` +
      'registerWithTaints: [{key: a, value: b, effect: NoSchedule}]\nevictionHard: {memory.available: 1Gi}\nfeatureGates: {ContainerCheckpoint: true}\n',
    '--port=2',
  );
  expect(loaded).toMatchObject({
    options: {
      serving: { port: 2, address: '127.0.0.1' },
      authentication: { anonymous: false, clientCaFile: '/ca' },
      node: { taints: ['a=b:NoSchedule'], evictionHard: 'memory.available<1Gi' },
      featureGates: { ContainerCheckpoint: true },
    },
  });
});

it.each([
  ['--prot=1', '--prot: unknown flag; did you mean --port?'],
  ['--port=99999', '--port: must be a port from 0 to 65535'],
  ['--address=host', '--address: "host" is not an IP address'],
  ['--hostname-override=a_b', '--hostname-override: "a_b" is not a DNS name'],
  ['--authorization-mode=RBAC', '--authorization-mode: "RBAC" must be one of AlwaysAllow, Webhook'],
  ['--authorization-mode=Webhook', '--authorization-mode: needs --kubeconfig, the API server to ask'],
  ['--authentication-token-webhook', '--authentication-token-webhook: needs --kubeconfig, the API server to ask'],
  ['--tls-cert-file=a', '--tls-cert-file: needs --tls-private-key-file, and the key needs the certificate'],
  ['--node-labels=node-role.kubernetes.io/control-plane=', /a node may not set the label node-role.kubernetes.io/],
  ['--node-labels=a b=c', /"a b" is not a label key/],
  ['--system-reserved=gpu=1', '--system-reserved: gpu cannot be reserved; only cpu, memory, ephemeral-storage, pid'],
  ['--kube-reserved=cpu=-1', '--kube-reserved: "-1" of cpu is not a quantity of zero or more'],
  ['--eviction-hard=memory<1', /--eviction-hard: "memory<1" must be signal<quantity/],
  ['--register-with-taints=a=b:Never', /"a=b:Never" must be key=value:Effect/],
  ['--container-runtime-endpoint=tcp://a:1', /"tcp:\/\/a:1" must be a Unix socket/],
  [
    '--feature-gates=ContainerChekpoint=true',
    /unknown feature gate ContainerChekpoint; did you mean ContainerCheckpoint\?/,
  ],
  ['--node-ip=10.0.0.1,10.0.0.2', '--node-ip: "10.0.0.1,10.0.0.2" must be one address, or one of IPv4 and one of IPv6'],
  ['--node-ip=fd00::1 --node-ip=fd00::1', /"fd00::1,fd00::1" must be one address, or one of IPv4 and one of IPv6/],
  ['--node-ip=10.0.0.1,fd00::1,10.0.0.2', /must be one address, or one of IPv4 and one of IPv6/],
  ['--node-ip=0.0.0.0,fd00::1', '--node-ip: "0.0.0.0,fd00::1": 0.0.0.0 and :: must be the only address'],
  ['--node-ip=node-1', '--node-ip: "node-1" is not an IP address'],
  ['--pod-manifest-path=/etc', '--pod-manifest-path: unknown flag'],
])('the agent refuses %s', (word, message) => {
  expect(loadAgentOptions(word.split(/ (?=--)/)).errors).toEqual([
    typeof message === 'string' ? message : expect.stringMatching(message),
  ]);
});

it.each([
  ['podPidsLimit: 1', /podPidsLimit: the agent does not have this field/],
  ['__proto__: {a: 1}', /__proto__: the agent does not have this field/],
  ['authentication: {x509: {clientCaFile: a}}', /did you mean authentication.x509.clientCAFile\?/],
  ['authentication: yes-please', /authentication: must be a mapping/],
  ['port: [1]', /port: --port does not take a list or mapping/],
])('a KubeletConfiguration with %s is refused', (fields, message) => {
  expect(withFile(head + fields).errors).toEqual([expect.stringMatching(message)]);
});

it('a KubeletConfiguration of another version is refused', () => {
  expect(withFile('apiVersion: v2\nkind: KubeletConfiguration').errors).toEqual([
    `${file}: apiVersion must be kubelet.config.k8s.io/v1beta1`,
  ]);
});
